package io.penstock.pool.evict;

import io.penstock.block.BlockKey;
import io.penstock.block.EvictionPolicy;
import io.penstock.block.SpaceId;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/// The order of each policy.
public final class EvictionOrders {
  /// Enough to count as unbounded, and small enough to add.
  private static final long MOST = 1L << 40;

  /// Orders with equal references decide alike.
  private static final long SEED = 1;

  private EvictionOrders() {}

  /// The order of `policy`; null for the policies whose order is that of the levels.
  ///
  /// @param capacity of all levels
  /// @param keys the key of each row
  public static @Nullable EvictionOrder of(EvictionPolicy policy, SpaceId space, long capacity,
      IntFunction<BlockKey> keys) {
    long blocks = Math.min(capacity, MOST);
    return switch (policy) {
      case LRU, FIFO -> null;
      case LFU -> new ScoreOrder((uses, position, now) -> uses);
      case S3_FIFO -> new S3FifoOrder(space, blocks);
      case W_TINYLFU -> new TinyLfuOrder(blocks, keys, new SplittableRandom(SEED)::nextInt);
      case ARC -> new ArcOrder(space, blocks);
      case LENGTH_AWARE -> new ScoreOrder((uses, position, now) -> -position);
      case COST_AWARE -> new ScoreOrder(new CostScore());
      case REUSE_AWARE -> new ScoreOrder(new ReuseScore(EvictedUses.of(space, blocks)));
      case SESSIONS -> new SessionOrder(space, blocks);
      case ADAPTIVE -> new AdaptiveOrder(space, blocks, keys);
    };
  }
}
