package io.penstock.disagg.registry;

import io.penstock.tier.TierHolds.HoldLimitException;
import java.util.HashMap;
import java.util.Map;

/// Entries of a registry by the source that they count against. Not safe for use by several threads.
final class Shares {
  private final Map<Object, Integer> counts = new HashMap<>();

  /// @throws HoldLimitException if the source has `most` entries already
  void requireRoom(String what, Object source, int most) {
    require(what, counts.getOrDefault(source, 0) + 1, most);
  }

  static void require(String what, int wanted, int most) {
    if (wanted > most) {
      throw new HoldLimitException(what, wanted, most);
    }
  }

  void enter(Object source) {
    counts.merge(source, 1, Integer::sum);
  }

  void leave(Object source) {
    counts.computeIfPresent(source, (any, count) -> count == 1 ? null : count - 1);
  }
}
