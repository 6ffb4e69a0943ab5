package io.penstock.node.sweep;

import io.penstock.block.EvictionPolicy;
import io.penstock.node.report.LruCurve;
import io.penstock.node.shape.ModelSize;
import io.penstock.node.trace.TraceTotals;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The results of a sweep, in blocks and in sizes of a model.
///
/// @param trace named for a person
/// @param knee of the exact curve of LRU, whatever capacities were asked for; empty for a trace without hits
/// @param results by policy, then by capacity, as they were asked for
record SweepOutcome(String trace, ModelSize size, TraceTotals totals, Optional<LruCurve.At> knee,
    List<SweepResult> results) {
  SweepOutcome {
    results = List.copyOf(results);
  }

  /// A result as it is written in JSON: each row says all, so that rows of several sweeps may be put together.
  ///
  /// @param model of the blocks
  /// @param blockTokens tokens of a block
  /// @param capacityBytes bytes of the model
  /// @param prefillSecondsSaved time that the engine would need for `tokensReused`
  /// @param ceilingHitRate hit rate without a bound
  /// @param ceilingBlocks blocks that this takes
  /// @param kneeBlocks capacity at the knee of the curve of LRU; null for a trace without hits
  record Row(String model, int blockTokens, EvictionPolicy policy, long capacity, long capacityBytes, long blockRefs,
      long hits, double hitRate, long prefixHits, double prefixHitRate, long tokensReused, double prefillSecondsSaved,
      double ceilingHitRate, long ceilingBlocks, @Nullable Long kneeBlocks) {}

  List<Row> rows() {
    return results.stream().map(result -> new Row(size.model(), size.blockTokens(), result.policy(), result.capacity(),
        size.bytes(result.capacity()), result.blockRefs(), result.hits(), result.hitRate(), result.prefixHits(),
        result.prefixHitRate(), result.tokensReused(), size.seconds(result.tokensReused()), totals.ceiling(),
        totals.distinctBlocks(), knee.map(LruCurve.At::blocks).orElse(null))).toList();
  }

  /// Capacities in ascending order.
  List<Long> capacities() {
    return results.stream().map(SweepResult::capacity).distinct().sorted().toList();
  }

  List<EvictionPolicy> policies() {
    return results.stream().map(SweepResult::policy).distinct().toList();
  }

  /// Results of one policy, by ascending capacity.
  List<SweepResult> of(EvictionPolicy policy) {
    return results.stream().filter(result -> result.policy() == policy)
        .sorted(Comparator.comparingLong(SweepResult::capacity)).toList();
  }

  /// The result with most hits at `capacity`.
  SweepResult best(long capacity) {
    return results.stream().filter(result -> result.capacity() == capacity)
        .max(Comparator.comparingLong(SweepResult::hits)).orElseThrow();
  }
}
