package io.penstock.lab.bench.session;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.EvictionPolicy;
import io.penstock.block.PrefixHasher;
import io.penstock.block.SpaceId;
import io.penstock.block.session.SessionBounds;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionState;
import io.penstock.block.session.SessionUse;
import io.penstock.pool.Ledger;
import io.penstock.pool.evict.SessionOrder;
import java.nio.ByteBuffer;
import java.util.List;

/// What a pool of some policy and size has of the prompts of a trace, in simulated time. A hit is a block of the
/// longest prefix that is there: what follows a hole is of no use to an engine.
final class SessionHits {
  private static final SpaceId SPACE = SpaceId.read(ByteBuffer.allocate(SpaceId.BYTES));
  private static final Ledger.Moves<Boolean> UNHEARD = (key, value, level) -> {};

  private final Ledger<Boolean> ledger;
  private long millis;
  private final Count returning = new Count();
  private final Count others = new Count();
  private int keys;

  /// Prompts of a kind.
  static final class Count {
    private long turns;
    private long blocks;
    private long hits;

    private void add(int prompt, int prefix) {
      turns++;
      blocks += prompt;
      hits += prefix;
    }

    long turns() {
      return turns;
    }

    /// Part of the blocks that were there.
    double rate() {
      return blocks == 0 ? 0 : (double) hits / blocks;
    }
  }

  /// @param blocks that the pool has room for
  SessionHits(EvictionPolicy policy, long blocks) {
    this.ledger = new Ledger<>(SPACE, policy, blocks);
    SessionOrder sessions = ledger.sessions();
    if (sessions != null) {
      sessions.bounds(SessionBounds.defaults(), () -> millis * 1_000_000);
    }
  }

  SessionHits of(List<SessionTurn> turns) {
    turns.forEach(this::turn);
    return this;
  }

  private void turn(SessionTurn turn) {
    millis = turn.millis();
    SessionOrder sessions = ledger.sessions();
    SessionId id = SessionId.of(String.valueOf(turn.session()));
    if (sessions != null) {
      sessions.begin(turn.session() < 0 ? null : SessionUse.of(id), true);
    }
    int prefix = 0;
    for (int i = 0; i < turn.blocks().length; i++) {
      BlockKey key = key(turn.blocks()[i]);
      if (ledger.touch(key, i, UNHEARD) == null) {
        ledger.insert(key, true, i, UNHEARD);
      } else if (prefix == i && i < turn.prompt()) {
        prefix++;
      }
    }
    (turn.isReturn() ? returning : others).add(turn.prompt(), prefix);
    keys = Math.max(keys, ledger.size());
    SessionState after = turn.after();
    if (sessions != null) {
      sessions.finish();
      if (after != null) {
        sessions.state(SessionUse.of(id), after);
      }
    }
  }

  private static BlockKey key(long block) {
    BlockHash hash = PrefixHasher.ofName(Long.toString(block));
    return new BlockKey(SPACE, hash);
  }

  /// Turns after a long pause.
  Count returning() {
    return returning;
  }

  /// All other turns.
  Count others() {
    return others;
  }

  /// Most blocks at a time.
  int keys() {
    return keys;
  }
}
