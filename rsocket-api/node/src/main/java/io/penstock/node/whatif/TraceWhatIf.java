package io.penstock.node.whatif;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.node.trace.TraceRequest;
import io.penstock.node.trace.TraceSource;
import io.penstock.pool.curve.HitRateCurve;
import io.penstock.pool.curve.MissRatioCurve;
import io.penstock.pool.curve.MissRatioOptions;
import io.penstock.pool.curve.StackDistances;
import java.util.Arrays;

/// The hit rates of an LRU cache over a trace: by sampled keys, as a node does it, and exactly, from all keys.
final class TraceWhatIf {
  private static final SpaceId SPACE = new SpaceId(0, 0);

  private final MissRatioCurve sampled;
  private final StackDistances distances = new StackDistances(SPACE);
  /// References by their stack distance.
  private long[] atDistance = new long[1 << 12];
  private long references;

  private TraceWhatIf(MissRatioOptions options) {
    this.sampled = new MissRatioCurve(SPACE, options);
  }

  /// Reads `trace` to its end.
  ///
  /// @param samples most sampled keys
  /// @param seed of their choice
  static TraceWhatIf of(TraceSource trace, int samples, long seed) {
    TraceWhatIf whatIf = new TraceWhatIf(MissRatioOptions.ofSamples(samples, seed));
    for (TraceRequest request = trace.next(); request != null; request = trace.next()) {
      request.hashIds().forEach(id -> whatIf.reference(new BlockKey(SPACE, new BlockHash(0, id))));
    }
    return whatIf;
  }

  private void reference(BlockKey key) {
    references++;
    sampled.access(key);
    int distance = distances.use(key);
    if (distance == 0) {
      distances.enter(key);
    } else {
      if (distance >= atDistance.length) {
        atDistance = Arrays.copyOf(atDistance, Math.max(2 * atDistance.length, distance + 1));
      }
      atDistance[distance]++;
    }
  }

  /// The estimate.
  HitRateCurve sampled() {
    return sampled.curve();
  }

  /// Different blocks of the trace: with as much capacity, only first references miss.
  long workingSetBlocks() {
    return distances.size();
  }

  /// References that hit in a cache of `capacityBlocks`.
  long hits(long capacityBlocks) {
    return Arrays.stream(atDistance, 0, (int) Math.min(atDistance.length, capacityBlocks + 1)).sum();
  }

  double exactHitRate(long capacityBlocks) {
    return references == 0 ? 0 : (double) hits(capacityBlocks) / references;
  }

  /// The exact curve, at the capacities of the estimate.
  HitRateCurve exact() {
    HitRateCurve curve = sampled.curve();
    return new HitRateCurve(references, 1, distances.size(), curve.depthBlocks(),
        curve.points().stream()
            .map(point -> HitRateCurve.Point.exact(point.capacityBlocks(), exactHitRate(point.capacityBlocks())))
            .toList());
  }
}
