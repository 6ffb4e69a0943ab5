package io.penstock.node.kvevents;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.check.Checks;
import io.penstock.tier.TierHolds.BlockTokens;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The token ids of blocks of one space, for the events about these blocks. Any thread.
///
/// A put adds the tokens of its blocks before they become visible. The first event about a block claims them; the event
/// of its eviction, or a snapshot without it, drops claimed tokens alone. So the late eviction of an earlier block of
/// this key leaves the tokens of a newer put. Beyond the capacity the oldest tokens are dropped, which also drops those
/// of puts that failed. A block takes 4 bytes a token and at most [#BLOCK_BYTES].
public final class KvTokens {
  /// Bytes of a block besides its token ids: two hashes, four objects and an entry of the table.
  public static final int BLOCK_BYTES = 224;
  private static final long UNCLAIMED = -1;

  private final int most;
  @GuardedBy("this") private final Map<BlockHash, Known> blocks = new LinkedHashMap<>();
  @GuardedBy("this") private long snapshot;
  @GuardedBy("this") private long dropped;

  /// Tokens of one block.
  ///
  /// @param snapshot in or after which an event named the block; [#UNCLAIMED] before the first event
  private record Known(BlockTokens tokens, long snapshot) {}

  /// @param most maximum number of blocks; 0 keeps none
  KvTokens(int most) {
    this.most = Checks.notNegative("most", most);
  }

  /// Adds the tokens of a block that is being put.
  ///
  /// @param all tokens of the put
  public synchronized void add(List<BlockKey> keys, Map<BlockKey, BlockTokens> all) {
    for (BlockKey key : keys) {
      BlockTokens tokens = all.get(key);
      if (tokens != null && most > 0) {
        blocks.remove(key.hash()); // the newest is last
        blocks.put(key.hash(), new Known(tokens, UNCLAIMED));
        if (blocks.size() > most) {
          Iterator<Known> oldest = blocks.values().iterator();
          oldest.next();
          oldest.remove();
          dropped++;
        }
      }
    }
  }

  /// Tokens of a block that an event says is there; null if they are not known.
  synchronized @Nullable BlockTokens claimed(BlockHash block) {
    long now = snapshot;
    Known known = blocks.computeIfPresent(block, (hash, old) -> new Known(old.tokens, now));
    return known == null ? null : known.tokens;
  }

  /// Forgets a block that an event says is gone.
  synchronized void gone(BlockHash block) {
    blocks.computeIfPresent(block, (hash, known) -> known.snapshot == UNCLAIMED ? known : null);
  }

  /// A snapshot begins: its events name every block that is there.
  synchronized void snapshotStarted() {
    snapshot++;
  }

  /// Forgets blocks that the snapshot did not name.
  synchronized void snapshotEnded() {
    long now = snapshot;
    blocks.values().removeIf(known -> known.snapshot != UNCLAIMED && known.snapshot < now);
  }

  /// Number of blocks whose tokens are kept.
  synchronized int size() {
    return blocks.size();
  }

  /// Number of blocks whose tokens were dropped because there were more than may be.
  synchronized long dropped() {
    return dropped;
  }
}
