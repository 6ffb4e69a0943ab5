package io.penstock.node.whatif;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.node.report.LruCurve;
import io.penstock.node.trace.TraceRequest;
import io.penstock.node.trace.TraceSource;
import io.penstock.node.trace.TraceTotals;
import io.penstock.pool.curve.HitRateCurve;
import io.penstock.pool.curve.MissRatioCurve;
import io.penstock.pool.curve.MissRatioOptions;
import java.util.Optional;

/// The hit rates of an LRU cache over a trace: by sampled keys, as a node does it, and exactly, from all keys.
final class TraceWhatIf {
  private static final SpaceId SPACE = new SpaceId(0, 0);

  private final MissRatioCurve sampled;
  private final LruCurve exact = new LruCurve();
  private final TraceTotals totals;

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
      long id = request.hashIds().get(i);
      sampled.access(new BlockKey(SPACE, new BlockHash(0, id)));
      exact.add(id, request.tokens(i + 1, blockTokens) - request.tokens(i, blockTokens));
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

  /// Tokens of the blocks that hit in a cache of `capacityBlocks`.
  long tokens(long capacityBlocks) {
    return exact.tokens(capacityBlocks);
  }

  double exactHitRate(long capacityBlocks) {
    return exact.hitRate(capacityBlocks);
  }

  /// The knee of the exact curve; empty for a trace without hits.
  Optional<LruCurve.At> knee() {
    return exact.knee();
  }

  /// The exact curve, at the capacities of the estimate.
  HitRateCurve exact() {
    HitRateCurve curve = sampled.curve();
    return new HitRateCurve(totals.references(), 1, exact.distinctBlocks(), curve.depthBlocks(),
        curve.points().stream()
            .map(point -> HitRateCurve.Point.exact(point.capacityBlocks(), exactHitRate(point.capacityBlocks())))
            .toList());
  }
}
