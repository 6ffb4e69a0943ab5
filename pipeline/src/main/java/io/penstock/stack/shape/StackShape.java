package io.penstock.stack.shape;

import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.pool.PrefixIndex;
import io.penstock.tier.Medium;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.TierInfo;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.TierInputs;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// The fixed parts of a `TierStack`: levels, options, listener and inputs. Immutable.
///
/// @param levels fastest first
/// @param host the level of host memory; −1 if there is none
public record StackShape(TierInfo info, List<StackLevel> levels, int host, StackOptions options,
    TierListener listener, TierInputs inputs) {
  /// @throws IllegalArgumentException if the levels do not make a stack
  public static StackShape of(CacheSpace space, List<StackLevel> levels, StackOptions options, TierListener listener,
      TierInputs inputs) {
    List<StackLevel> fixed = List.copyOf(levels);
    int host = requireStack(space, fixed, options.mode());
    long capacity = mostBlocks(space, fixed, options.mode());
    TierInfo info = new TierInfo(options.name(), fixed.getFirst().medium(), space, capacity);
    return new StackShape(info, fixed, host, options, listener, inputs);
  }

  private static long mostBlocks(CacheSpace space, List<StackLevel> levels, StackOptions.Mode mode) {
    long[] capacities = ledgerCapacities(levels, mode);
    for (int i = 0; i < levels.size(); i++) {
      if (mode == StackOptions.Mode.EXCLUSIVE && levels.get(i) instanceof StackLevel.Host memory) {
        capacities[i] = memory.mostBlocks(space.layout().blockBytes());
      }
    }
    return Arrays.stream(capacities)
        .reduce(0, (sum, more) -> more > Long.MAX_VALUE - sum ? Long.MAX_VALUE : sum + more);
  }

  /// The bit of the store of `level` in the places of a key.
  public static int place(int level) {
    return 1 << level;
  }

  /// The bit of memory in the places of a key: that of the host level, if there is one.
  public int memoryPlace() {
    return 1 << (host < 0 ? levels.size() : host);
  }

  /// The fastest level of `places`. Memory of a stack without a host level counts as its fastest level.
  public int levelOf(int places) {
    return host < 0 && (places & memoryPlace()) != 0 ? 0 : Integer.numberOfTrailingZeros(places);
  }

  public BlockLayout layout() {
    return info.space().layout();
  }

  public long blockBytes() {
    return layout().blockBytes();
  }

  /// The slowest level.
  public int last() {
    return levels.size() - 1;
  }

  public boolean hasStores() {
    return levels.size() > (host < 0 ? 0 : 1);
  }

  public BlockStore store(int level) {
    return ((StackLevel.Stored) levels.get(level)).store();
  }

  public boolean isDisk(int level) {
    return levels.get(level).medium() == Medium.DISK;
  }

  /// Whether a block is kept on its own level and on all slower levels.
  public boolean isWriteThrough() {
    return options.mode() == StackOptions.Mode.WRITE_THROUGH;
  }

  public TierClosedException closed() {
    return new TierClosedException(info.name());
  }

  public long[] ledgerCapacities() {
    return ledgerCapacities(levels, options.mode());
  }

  private static int requireStack(CacheSpace space, List<StackLevel> levels, StackOptions.Mode mode) {
    if (levels.isEmpty() || levels.size() > Long.SIZE) {
      throw new IllegalArgumentException("levels must be 1 to " + Long.SIZE + " (was " + levels.size() + ")");
    }
    if (levels.size() >= PrefixIndex.MOST_PLACES) {
      throw new IllegalArgumentException(
          "levels must be < " + PrefixIndex.MOST_PLACES + " (was " + levels.size() + ")");
    }
    int host = -1;
    Set<String> names = new HashSet<>();
    for (int i = 0; i < levels.size(); i++) {
      StackLevel level = levels.get(i);
      if (!names.add(level.name())) {
        throw new IllegalArgumentException("levels must have distinct names (was " + level.name() + " twice)");
      }
      if (i > 0 && rank(level) < rank(levels.get(i - 1))) {
        throw new IllegalArgumentException(
            "levels must be ordered from fast to slow: device, host, disk (was %s below %s)".formatted(level.name(),
                levels.get(i - 1).name()));
      }
      switch (level) {
        case StackLevel.Host memory -> {
          if (host >= 0) {
            throw new IllegalArgumentException(
                "levels must have one host memory (was %s and %s)".formatted(levels.get(host).name(), memory.name()));
          }
          host = i;
        }
        case StackLevel.Stored stored -> requireSpace(space, stored.store());
      }
    }
    if (mode == StackOptions.Mode.WRITE_THROUGH && levels.getLast().medium() != Medium.DISK) {
      throw new IllegalArgumentException(
          "last level must be a disk to be written through to (was %s, %s)".formatted(levels.getLast().name(),
              levels.getLast().medium()));
    }
    return host;
  }

  private static void requireSpace(CacheSpace space, BlockStore store) {
    if (!store.space().equals(space)) {
      throw new IllegalArgumentException(
          "store %s must be of space %s (was %s)".formatted(store.name(), space.id(), store.space().id()));
    }
  }

  private static int rank(StackLevel level) {
    return switch (level.medium()) {
      case DEVICE -> 0;
      case HOST -> 1;
      case DISK, REMOTE -> 2;
    };
  }

  /// Number of blocks that the ledger keeps on each level. In a write-through stack a level repeats the faster levels,
  /// so the ledger counts only the blocks beyond those.
  private static long[] ledgerCapacities(List<StackLevel> levels, StackOptions.Mode mode) {
    long[] capacities = levels.stream().mapToLong(StackLevel::capacityBlocks).toArray();
    if (mode == StackOptions.Mode.EXCLUSIVE) {
      return capacities;
    }
    long[] more = capacities.clone();
    for (int i = 1; i < capacities.length; i++) {
      if (capacities[i] <= capacities[i - 1]) {
        throw new IllegalArgumentException(
            "capacity of %s must be > the %d blocks of %s, which it repeats (was %d)".formatted(levels.get(i).name(),
                capacities[i - 1], levels.get(i - 1).name(), capacities[i]));
      }
      more[i] = capacities[i] == Long.MAX_VALUE ? Long.MAX_VALUE : capacities[i] - capacities[i - 1];
    }
    return more;
  }
}
