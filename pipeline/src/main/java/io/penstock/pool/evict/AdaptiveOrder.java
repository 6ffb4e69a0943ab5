package io.penstock.pool.evict;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;

/// Chooses between two orders while they run: the victim is that of the order which would have had more hits lately.
///
/// A [ShadowCache] for each order sees the references to a sample of the keys and counts the hits that the order alone
/// would have had. These are the miniature simulations of Waldspurger et al. ("Cache Modeling and Optimization using
/// Miniature Simulations", USENIX ATC '17): a hash of a key decides whether the key is sampled, and a shadow has the
/// part of the capacity that the sample is of all keys. Up to [#MOST_SHADOWED] blocks all keys are sampled, and the
/// shadows decide exactly as the two orders would. A hit counts half after two capacities of sampled references.
///
/// Both orders know every row, so a change of the choice moves nothing: from then on the other one names the victims.
/// That a leader is followed lazily, and that this costs little against the better of the two, is the argument of Blum
/// and Burch ("On-line Learning and the Metrical Task System Problem", Machine Learning 39, 2000). ARC and LeCaR
/// (Vietri et al., HotStorage '18) adapt by what was evicted too early; a shadow also counts what such lists forget.
///
/// A decision costs O(log n) for each order and, of sampled keys, for each shadow. A row costs 65 bytes, an evicted key
/// 49; the shadows have 9 MiB at most.
final class AdaptiveOrder implements EvictionOrder {
  /// Maximum number of keys of a shadow.
  static final int MOST_SHADOWED = 1 << 13;

  private static final int SAMPLE_BITS = 31;
  /// Sampled references after which a hit counts half, at least. A request names some dozen blocks at once, so less
  /// would follow single requests.
  private static final int LEAST_HALF_LIFE = 1 << 12;
  private static final int CAPACITIES_A_HALF_LIFE = 2;
  /// Part by which the other order must be better before it is chosen.
  private static final double MARGIN = 0.005;

  private final List<Choice> choices;
  private final IntFunction<BlockKey> keys;
  private final double rate;
  private final long threshold;
  private int rows;
  /// Number of keys at the last search for a victim: what the cache has room for.
  private long room;
  private double decay;
  private Choice leader;

  /// An order, and what it alone would have hit.
  private static final class Choice {
    final EvictionOrder order;
    final ShadowCache shadow;
    double hits;

    Choice(EvictionOrder order, ShadowCache shadow) {
      this.order = order;
      this.shadow = shadow;
    }
  }

  /// @param capacity of all levels
  /// @param keys the key of each row
  AdaptiveOrder(SpaceId space, long capacity, IntFunction<BlockKey> keys) {
    this.keys = keys;
    this.rate = Math.min(1, (double) MOST_SHADOWED / capacity);
    this.threshold = Math.max(1, (long) (rate * (1L << SAMPLE_BITS)));
    this.choices = List.of(new Choice(new LruOrder(), new ShadowCache(space, new LruOrder())),
        new Choice(reuseAware(EvictedUses.of(space, capacity)),
            new ShadowCache(space, reuseAware(EvictedUses.sampled(space, capacity, rate)))));
    this.leader = choices.getFirst();
    room(capacity);
  }

  private static EvictionOrder reuseAware(EvictedUses evicted) {
    return new ScoreOrder(new ReuseScore(evicted));
  }

  private void room(long blocks) {
    if (blocks != room) {
      room = blocks;
      decay = Math.pow(0.5, 1 / Math.max(LEAST_HALF_LIFE, CAPACITIES_A_HALF_LIFE * rate * blocks));
    }
  }

  @Override
  public void missed(BlockKey key) {
    choices.forEach(choice -> choice.order.missed(key));
  }

  @Override
  public void inserted(int row, BlockKey key, int position) {
    rows++;
    sample(key, position);
    choices.forEach(choice -> choice.order.inserted(row, key, position));
  }

  @Override
  public void touched(int row, BlockKey key, int position) {
    sample(key, position);
    choices.forEach(choice -> choice.order.touched(row, key, position));
  }

  /// Shows the shadows a reference to `key`, if it is sampled, and follows the one that hits more.
  private void sample(BlockKey key, int position) {
    if (!isSampled(key)) {
      return;
    }
    long capacity = Math.max(1, Math.round(rate * room));
    for (Choice choice : choices) {
      choice.hits = choice.hits * decay + (choice.shadow.reference(key, position, capacity) ? 1 : 0);
    }
    for (Choice choice : choices) {
      leader = choice.hits > leader.hits * (1 + MARGIN) + 1 ? choice : leader;
    }
  }

  /// The bits that decide are not those by which a [FrequencySketch] or a level divides keys.
  private boolean isSampled(BlockKey key) {
    BlockHash hash = key.hash();
    long a = hash.high() ^ 0x9E3779B97F4A7C15L;
    long b = hash.low() ^ 0xC2B2AE3D27D4EB4FL;
    return ((a * b) ^ Math.unsignedMultiplyHigh(a, b)) >>> (Long.SIZE - SAMPLE_BITS) < threshold;
  }

  @Override
  public int victim(IntPredicate mayLeave) {
    room(rows);
    return leader.order.victim(mayLeave);
  }

  @Override
  public void evicted(int row, BlockKey key) {
    rows--;
    choices.forEach(choice -> choice.order.evicted(row, key));
  }

  @Override
  public void removed(int row) {
    rows--;
    BlockKey key = keys.apply(row);
    boolean isSampled = isSampled(key);
    for (Choice choice : choices) {
      choice.order.removed(row);
      if (isSampled) {
        choice.shadow.remove(key);
      }
    }
  }

  @Override
  public void clear() {
    rows = 0;
    leader = choices.getFirst();
    for (Choice choice : choices) {
      choice.order.clear();
      choice.shadow.clear();
      choice.hits = 0;
    }
  }
}
