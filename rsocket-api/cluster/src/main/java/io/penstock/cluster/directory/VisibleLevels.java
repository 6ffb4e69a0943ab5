package io.penstock.cluster.directory;

import io.penstock.tier.TierEvent.Level;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// The levels of a tier in their order, and which of them give no blocks now. Not thread-safe.
final class VisibleLevels {
  /// The level of a block that no level gives.
  static final int NONE = -1;
  private static final int MOST = 255;

  private final List<String> order;
  private final Set<Level> down = new HashSet<>();

  /// @param order names of the levels, fastest first
  VisibleLevels(List<String> order) {
    this.order = List.copyOf(order);
  }

  void restart(Collection<Level> nowDown) {
    down.clear();
    down.addAll(nowDown);
  }

  /// Number of the fastest of `levels` that gives blocks; a level that the tier does not list counts as behind all.
  int fastest(List<Level> levels) {
    for (Level level : levels) {
      if (!down.contains(level)) {
        int number = order.indexOf(level.name());
        return Math.min(MOST, number >= 0 ? number : order.size());
      }
    }
    return NONE;
  }
}
