package io.penstock.gateway.choice;

import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;

/// Which instance has which blocks, on which medium, as far as their events told.
///
/// Instances have numbers from 0 to 63 ([#MOST_INSTANCES]). Blocks are spread over 64 tables by their name, each with a
/// lock of its own that is held for one block.
///
/// An index follows its instances with a delay, and may be wrong in both directions: a choice that is built on it costs
/// time if it is wrong, never bytes.
///
/// - Threads: any.
/// - Memory: 24 to 48 bytes a block, and 32 to 64 more if it has several places.
public final class BlockIndex {
  /// Maximum number of instances.
  public static final int MOST_INSTANCES = Long.SIZE;

  private static final int SHARDS = 64;

  private final Shard[] shards = new Shard[SHARDS];

  private static final class Shard {
    private final ReentrantLock lock = new ReentrantLock();
    private final BlockPlaces places = new BlockPlaces();
  }

  public BlockIndex() {
    Arrays.setAll(shards, i -> new Shard());
  }

  /// An instance has a block.
  public void add(int instance, Medium medium, long name) {
    long bit = bit(instance);
    Shard shard = shard(name);
    shard.lock.lock();
    try {
      shard.places.add(name, medium.ordinal(), bit);
    } finally {
      shard.lock.unlock();
    }
  }

  /// An instance has a block no longer on `medium`.
  public void remove(int instance, Medium medium, long name) {
    long bit = bit(instance);
    Shard shard = shard(name);
    shard.lock.lock();
    try {
      shard.places.remove(name, medium.ordinal(), bit);
    } finally {
      shard.lock.unlock();
    }
  }

  /// An instance has no blocks.
  public void clear(int instance) {
    long bit = bit(instance);
    for (Shard shard : shards) {
      shard.lock.lock();
      try {
        shard.places.forget(bit);
      } finally {
        shard.lock.unlock();
      }
    }
  }

  /// Number of blocks that an instance has.
  public long size() {
    long size = 0;
    for (Shard shard : shards) {
      shard.lock.lock();
      try {
        size += shard.places.size();
      } finally {
        shard.lock.unlock();
      }
    }
    return size;
  }

  /// How much of a prompt each instance has.
  ///
  /// @param names of the prompt's blocks, see [PromptBlocks]
  /// @param among the instances that count, a bit each
  public Overlap overlap(long[] names, long among) {
    Overlap overlap = new Overlap();
    long[] places = new long[BlockPlaces.MEDIA];
    long alive = among;
    for (int i = 0; i < names.length && alive != 0; i++) {
      if (!look(names[i], places)) {
        break;
      }
      long left = alive;
      for (int medium = 0; medium < places.length; medium++) {
        long has = places[medium] & left;
        left &= ~has;
        overlap.count(medium, has);
      }
      alive &= ~left;
    }
    return overlap;
  }

  private boolean look(long name, long[] to) {
    Shard shard = shard(name);
    shard.lock.lock();
    try {
      return shard.places.places(name, to);
    } finally {
      shard.lock.unlock();
    }
  }

  private Shard shard(long name) {
    return shards[(int) (name >>> 58)];
  }

  static long bit(int instance) {
    if (instance < 0 || instance >= MOST_INSTANCES) {
      throw new IllegalArgumentException(
          "instance must be in [0, %d] (was %d)".formatted(MOST_INSTANCES - 1, instance));
    }
    return 1L << instance;
  }

  /// The leading blocks of a prompt that each instance has, by the fastest medium that has them.
  public static final class Overlap {
    private final int[] blocks = new int[MOST_INSTANCES * BlockPlaces.MEDIA];

    private void count(int medium, long instances) {
      for (long rest = instances; rest != 0; rest &= rest - 1) {
        blocks[Long.numberOfTrailingZeros(rest) * BlockPlaces.MEDIA + medium]++;
      }
    }

    /// Leading blocks that `instance` has on `medium` as the fastest.
    public int on(int instance, Medium medium) {
      return blocks[instance * BlockPlaces.MEDIA + medium.ordinal()];
    }

    /// Leading blocks that `instance` has on any medium.
    public int blocks(int instance) {
      int sum = 0;
      for (Medium medium : Medium.values()) {
        sum += on(instance, medium);
      }
      return sum;
    }

    /// Blocks that `instance` need not compute, where one that must come from a slower medium counts as a part.
    double credit(int instance) {
      double sum = 0;
      for (Medium medium : Medium.values()) {
        sum += medium.credit() * on(instance, medium);
      }
      return sum;
    }
  }
}
