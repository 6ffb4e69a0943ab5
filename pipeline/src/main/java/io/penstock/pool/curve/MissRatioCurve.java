package io.penstock.pool.curve;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.check.Checks;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/// Estimates the hit rate of an LRU cache of any capacity from the references that one cache gets, while they come.
///
/// It follows the stack distances of a sample of the keys (SHARDS, Waldspurger et al. 2015). A keyed hash of a key
/// decides whether the key is sampled, so a key is sampled always or never. A distance among samples, divided by the
/// rate of sampling, estimates the distance among all keys. Only *misses* are estimated, and hits are all references
/// less the misses (SHARDS-adj): whether a sample has one of the few hottest keys or lacks it would otherwise shift the
/// whole curve.
///
/// - Bounded memory: when there are more samples than allowed, the rate falls by an eighth, and the keys above the new
///   threshold are forgotten. What they counted stays.
/// - Follows the load: a reference counts half after [MissRatioOptions#halfLife] references. A key that was last used
///   farther back than [MissRatioOptions#depthBlocks] is forgotten, so the rate does not fall for ever.
/// - Honest: a second hash divides the samples into 16 groups, each an estimate of its own. Their spread gives the
///   error of the mean.
///
/// A key that is not sampled costs a multiplication and a comparison. Pure; not thread-safe: the owner guards it.
public final class MissRatioCurve {
  private static final int THRESHOLD_BITS = 31;
  private static final long MIX = 0xD6E8FEB86659FD93L;
  private static final long ALL = 1L << THRESHOLD_BITS;
  /// Parts of a half-life after which all counts fall a little.
  private static final int AGEING_STEPS = 16;
  private static final double AGEING = Math.pow(0.5, 1.0 / AGEING_STEPS);

  private final MissRatioOptions options;
  private final long secretHigh;
  private final long secretLow;
  private final StackDistances sampled;
  private final MissRatioHistogram misses;
  /// Keys are sampled whose hash is below it, of [#ALL].
  private long threshold;
  private long references;
  /// Weight of all references.
  private double total;
  private long sinceAgeing;

  /// @param space of all keys
  public MissRatioCurve(SpaceId space, MissRatioOptions options) {
    this.options = options;
    SplittableRandom random = new SplittableRandom(options.seed());
    this.secretHigh = random.nextLong();
    this.secretLow = random.nextLong();
    this.sampled = new StackDistances(space);
    this.misses = new MissRatioHistogram(options.depthBlocks());
    this.threshold = options.mostSamples() == 0 ? 0 : Math.max(1, (long) (options.rate() * ALL));
  }

  /// Counts a reference to `key`, which enters the cache if it is absent: all that a trace needs.
  public void access(BlockKey key) {
    if (samples(key)) {
      reference(key);
      enter(key);
    }
    count(1);
  }

  /// Whether `key` is sampled. [#reference] and [#enter] are for such keys alone.
  public boolean samples(BlockKey key) {
    return isBelowThreshold(hash(key));
  }

  /// A reader asked for the sampled `key`. An absent key stays absent until it is written.
  public void reference(BlockKey key) {
    int group = group(key);
    double keysASample = keysASample();
    int distance = sampled.use(key);
    if (distance == 0) {
      misses.addCold(group, keysASample);
    } else {
      misses.add(group, 1 + Math.round((distance - 1) * keysASample), keysASample);
    }
  }

  /// The sampled `key` was written: from now on caches have it. No effect if it is present.
  public void enter(BlockKey key) {
    if (sampled.contains(key)) {
      return;
    }
    sampled.enter(key);
    if (sampled.size() > options.mostSamples()) {
      lowerThreshold();
    }
    while (sampled.size() > 1 && (sampled.size() - 1) * keysASample() >= options.depthBlocks()) {
      sampled.removeOldest();
    }
  }

  /// `key` was removed, from caches of any capacity.
  public void remove(BlockKey key) {
    if (samples(key)) {
      sampled.remove(key);
    }
  }

  /// Counts `more` references, sampled and not. Call it after [#reference] of the sampled ones.
  public void count(int more) {
    references += more;
    total += more;
    sinceAgeing += more;
    long step = Math.max(1, options.halfLife() / AGEING_STEPS);
    while (sinceAgeing >= step) {
      sinceAgeing -= step;
      total *= AGEING;
      misses.scale(AGEING);
    }
  }

  private void lowerThreshold() {
    while (sampled.size() > options.mostSamples() && threshold > 1) {
      threshold -= Math.max(1, threshold / 8);
      sampled.retain(this::samples);
    }
  }

  private double keysASample() {
    return (double) ALL / threshold;
  }

  private boolean isBelowThreshold(long hash) {
    return hash >>> (Long.SIZE - THRESHOLD_BITS) < threshold;
  }

  private int group(BlockKey key) {
    return (int) hash(key) & (MissRatioHistogram.GROUPS - 1);
  }

  /// Both halves of a product, so that all bits of the key and of the secrets matter, mixed once more: keys in sequence
  /// would be sampled more evenly than at random, and the interval would be too wide.
  private long hash(BlockKey key) {
    BlockHash hash = key.hash();
    long a = hash.high() ^ secretHigh;
    long b = hash.low() ^ secretLow;
    long mixed = (a * b) ^ Math.unsignedMultiplyHigh(a, b);
    mixed = (mixed ^ (mixed >>> 32)) * MIX;
    return mixed ^ (mixed >>> 29);
  }

  /// The curve so far.
  public HitRateCurve curve() {
    return new HitRateCurve(references, threshold / (double) ALL, sampled.size(), options.depthBlocks(),
        total == 0 || threshold == 0 ? List.of() : points());
  }

  private List<HitRateCurve.Point> points() {
    GroupEstimates estimates = new GroupEstimates();
    double[] missed = misses.cold();
    for (int bucket = misses.last(); bucket >= 0; bucket--) {
      estimates.addBelow(Math.min(options.depthBlocks(), MissRatioHistogram.upper(bucket)), hitRates(missed));
      misses.addTo(missed, bucket);
    }
    int[] keys = new int[MissRatioHistogram.GROUPS];
    sampled.forEach(key -> keys[group(key)]++);
    return estimates.points(threshold / (double) ALL, keys);
  }

  /// The hit rate that each group estimates, from the weights of its misses.
  private double[] hitRates(double[] missed) {
    return Arrays.stream(missed).map(each -> 1 - each * MissRatioHistogram.GROUPS / total).toArray();
  }
}
