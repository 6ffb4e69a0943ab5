package io.penstock.tier;

import io.penstock.tier.spi.BlockStore;
import io.penstock.block.CacheSpace;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// Which lists of levels make a stack, and what the books keep on each.
final class StackShape {
  private StackShape() {}

  /// The level of host memory, −1 if there is none.
  ///
  /// @throws IllegalArgumentException if the levels do not make a stack
  static int requireStack(CacheSpace space, List<Level> levels, StackMode mode) {
    if (levels.isEmpty()) {
      throw new IllegalArgumentException("levels must be at least one (was none)");
    }
    int host = -1;
    Set<String> names = new HashSet<>();
    for (int i = 0; i < levels.size(); i++) {
      Level level = levels.get(i);
      if (!names.add(level.name())) {
        throw new IllegalArgumentException("levels must have distinct names (was " + level.name() + " twice)");
      }
      if (i > 0 && rank(level) < rank(levels.get(i - 1))) {
        throw new IllegalArgumentException(
            "levels must come fastest first: device, host, disk (was %s below %s)".formatted(level.name(),
                levels.get(i - 1).name()));
      }
      switch (level) {
        case Level.Host memory -> {
          if (host >= 0) {
            throw new IllegalArgumentException(
                "levels must have one host memory (was %s and %s)".formatted(levels.get(host).name(),
                    memory.name()));
          }
          host = i;
        }
        case Level.Stored stored -> requireSpace(space, stored.store());
      }
    }
    if (mode == StackMode.WRITE_THROUGH && levels.getLast().medium() != Medium.DISK) {
      throw new IllegalArgumentException(
          "last level must be a disk to be written through to (was %s, %s)".formatted(levels.getLast().name(),
              levels.getLast().medium()));
    }
    books(levels, mode);
    return host;
  }

  private static void requireSpace(CacheSpace space, BlockStore store) {
    if (!store.space().equals(space)) {
      throw new IllegalArgumentException(
          "store %s must be of space %s (was %s)".formatted(store.name(), space.id(), store.space().id()));
    }
  }

  private static int rank(Level level) {
    return switch (level.medium()) {
      case DEVICE -> 0;
      case HOST -> 1;
      case DISK, REMOTE -> 2;
    };
  }

  /// What the ledger keeps on each level. Written through, a level repeats all above it, so it adds what it is larger
  /// by.
  static long[] books(List<Level> levels, StackMode mode) {
    long[] capacities = levels.stream().mapToLong(Level::capacityBlocks).toArray();
    if (mode == StackMode.EXCLUSIVE) {
      return capacities;
    }
    long[] more = capacities.clone();
    for (int i = 1; i < capacities.length; i++) {
      if (capacities[i] <= capacities[i - 1]) {
        throw new IllegalArgumentException(
            "capacity of %s must be > the %d blocks of %s, which it repeats (was %d)".formatted(
                levels.get(i).name(), capacities[i - 1], levels.get(i - 1).name(), capacities[i]));
      }
      more[i] = capacities[i] == Long.MAX_VALUE ? Long.MAX_VALUE : capacities[i] - capacities[i - 1];
    }
    return more;
  }
}
