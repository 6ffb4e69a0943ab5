package io.penstock.tier;

import io.penstock.block.BlockKey;
import io.penstock.tier.TierEvent.Level;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// The blocks of a tier and their levels, kept from the events of [BlockTier#follow] or [BlockTier#events]. Not
/// thread-safe.
public final class KnownBlocks {
  private final Map<BlockKey, List<Level>> levels = new HashMap<>();
  private final Set<Level> down = new HashSet<>();
  private long sequence;
  private boolean complete;

  /// Applies one event; events come in the order of the stream.
  public void apply(TierEvent event) {
    sequence = event.sequence();
    switch (event) {
      case TierEvent.Stored stored -> levels.put(stored.key(), stored.levels());
      case TierEvent.Present present -> levels.put(present.key(), present.levels());
      case TierEvent.Moved moved -> levels.put(moved.key(), moved.to());
      case TierEvent.Evicted evicted -> levels.remove(evicted.key());
      case TierEvent.Removed removed -> levels.remove(removed.key());
      case TierEvent.Lost lost -> levels.remove(lost.key());
      case TierEvent.LevelDown now -> down.add(now.level());
      case TierEvent.LevelUp now -> down.remove(now.level());
      case TierEvent.Skipped skipped -> complete = false;
      case TierEvent.SnapshotStarted snapshot -> {
        levels.clear();
        down.clear();
        down.addAll(snapshot.down());
        complete = false;
      }
      case TierEvent.SnapshotEnded snapshot -> complete = true;
      case TierEvent.SessionEnded ended -> {
      }
    }
  }

  /// Number of the last change applied.
  public long sequence() {
    return sequence;
  }

  /// Whether a snapshot was applied as a whole, and no event was missed since.
  public boolean isComplete() {
    return complete;
  }

  /// The levels that have the block of `key` and give it now, fastest first; empty if it is not visible.
  public List<Level> levels(BlockKey key) {
    return levels.getOrDefault(key, List.of()).stream().filter(level -> !down.contains(level)).toList();
  }

  public boolean isVisible(BlockKey key) {
    return !levels(key).isEmpty();
  }

  /// The keys of visible blocks.
  public Set<BlockKey> visible() {
    Set<BlockKey> visible = new HashSet<>(levels.keySet());
    visible.removeIf(key -> !isVisible(key));
    return visible;
  }
}
