package io.penstock.node.replay;

import io.penstock.block.BlockKey;
import io.penstock.block.EvictionPolicy;
import io.penstock.node.party.TraceKeys;
import io.penstock.node.replay.report.PolicyHits;
import io.penstock.node.trace.TraceRequest;
import io.penstock.pool.Ledger;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The hits of a policy over the requests of a replay, in one pool of keys without bytes, as `penstock sweep` counts
/// them. A replay has these hits, however its blocks are divided among levels, unless it had to ask its node again:
/// then it touches keys again.
final class PolicyAlone {
  private static final Ledger.Moves<Boolean> UNHEARD = (key, value, level) -> {};

  private final TraceKeys keys;
  private final Of of;
  private final Ledger<Boolean> ledger;
  private long hits;
  /// Whether a request had several parts: a replay decides on others between them.
  private boolean isParted;

  /// A policy and the blocks that it has room for.
  ///
  /// @param blocks on all levels together; `Long.MAX_VALUE` for no bound
  record Of(EvictionPolicy policy, long blocks) {}

  /// @param keys of the replay
  PolicyAlone(Of of, TraceKeys keys) {
    this.keys = keys;
    this.of = of;
    this.ledger = new Ledger<>(keys.space(), of.policy(), of.blocks());
  }

  /// Counts the next request of the trace.
  void add(TraceRequest request) {
    List<List<Long>> parts = TraceKeys.parts(request.hashIds());
    isParted |= parts.size() > 1;
    for (List<Long> part : parts) {
      List<BlockKey> blocks = keys.of(part);
      for (int i = 0; i < blocks.size(); i++) {
        if (ledger.touch(blocks.get(i), i, UNHEARD) != null) {
          hits++;
        } else {
          ledger.insert(blocks.get(i), true, i, UNHEARD);
        }
      }
    }
  }

  /// Null if they cannot be compared with those of a replay, for a request had several parts.
  @Nullable PolicyHits hits() {
    return isParted
        ? null
        : new PolicyHits(TierFlags.lower(of.policy()), of.blocks() == Long.MAX_VALUE ? null : (Long) of.blocks(),
            hits);
  }
}
