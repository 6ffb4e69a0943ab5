package io.penstock.node.whatif;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.node.report.Knee;
import io.penstock.node.trace.TraceRequest;
import io.penstock.node.trace.TraceSource;
import io.penstock.node.trace.TraceTotals;
import io.penstock.pool.curve.HitRateCurve;
import io.penstock.pool.curve.MissRatioCurve;
import io.penstock.pool.curve.MissRatioOptions;
import io.penstock.pool.curve.StackDistances;
import java.util.Arrays;
import java.util.Optional;

/// The hit rates of an LRU cache over a trace: by sampled keys, as a node does it, and exactly, from all keys.
final class TraceWhatIf {
  private static final SpaceId SPACE = new SpaceId(0, 0);

  private final MissRatioCurve sampled;
  private final StackDistances distances = new StackDistances(SPACE);
  private final TraceTotals totals;
  /// References by their stack distance.
  private long[] atDistance = new long[1 << 12];
  /// Tokens of the referenced blocks, by their stack distance.
  private long[] tokensAtDistance = new long[1 << 12];

  private TraceWhatIf(MissRatioOptions options, int blockTokens) {
    this.sampled = new MissRatioCurve(SPACE, options);
    this.totals = new TraceTotals(blockTokens);
  }

  /// Reads `trace` to its end.
  ///
  /// @param blockTokens tokens of a block
  /// @param samples most sampled keys
  /// @param seed of their choice
  static TraceWhatIf of(TraceSource trace, int blockTokens, int samples, long seed) {
    TraceWhatIf whatIf = new TraceWhatIf(MissRatioOptions.ofSamples(samples, seed), blockTokens);
    for (TraceRequest request = trace.next(); request != null; request = trace.next()) {
      whatIf.add(request, blockTokens);
    }
    return whatIf;
  }

  private void add(TraceRequest request, int blockTokens) {
    totals.add(request);
    for (int i = 0; i < request.blocks(); i++) {
      reference(new BlockKey(SPACE, new BlockHash(0, request.hashIds().get(i))),
          request.tokens(i + 1, blockTokens) - request.tokens(i, blockTokens));
    }
  }

  private void reference(BlockKey key, long tokens) {
    sampled.access(key);
    int distance = distances.use(key);
    if (distance == 0) {
      distances.enter(key);
    } else {
      if (distance >= atDistance.length) {
        int longer = Math.max(2 * atDistance.length, distance + 1);
        atDistance = Arrays.copyOf(atDistance, longer);
        tokensAtDistance = Arrays.copyOf(tokensAtDistance, longer);
      }
      atDistance[distance]++;
      tokensAtDistance[distance] += tokens;
    }
  }

  /// The estimate.
  HitRateCurve sampled() {
    return sampled.curve();
  }

  /// Totals of the trace.
  TraceTotals totals() {
    return totals;
  }

  /// References that hit in a cache of `capacityBlocks`.
  long hits(long capacityBlocks) {
    return sum(atDistance, capacityBlocks);
  }

  /// Tokens of the blocks that hit in a cache of `capacityBlocks`.
  long tokens(long capacityBlocks) {
    return sum(tokensAtDistance, capacityBlocks);
  }

  private static long sum(long[] atDistance, long capacityBlocks) {
    return Arrays.stream(atDistance, 0, (int) Math.min(atDistance.length, capacityBlocks + 1)).sum();
  }

  double exactHitRate(long capacityBlocks) {
    return totals.references() == 0 ? 0 : (double) hits(capacityBlocks) / totals.references();
  }

  /// The capacity at the knee of the exact curve; empty for a trace without hits.
  Optional<Long> kneeBlocks() {
    Knee knee = new Knee(totals.distinctBlocks(), totals.ceilingHits());
    long hits = 0;
    for (int distance = 1; distance < atDistance.length; distance++) {
      hits += atDistance[distance];
      knee.add(distance, hits);
    }
    return knee.blocks();
  }

  /// The exact curve, at the capacities of the estimate.
  HitRateCurve exact() {
    HitRateCurve curve = sampled.curve();
    return new HitRateCurve(totals.references(), 1, distances.size(), curve.depthBlocks(),
        curve.points().stream()
            .map(point -> HitRateCurve.Point.exact(point.capacityBlocks(), exactHitRate(point.capacityBlocks())))
            .toList());
  }
}
