package io.penstock.node.whatif;

import com.fasterxml.jackson.annotation.JsonIgnore;
import io.penstock.node.report.LruCurve;
import io.penstock.node.shape.ModelSize;
import io.penstock.pool.curve.HitRateCurve;
import io.penstock.pool.curve.HitRateCurve.Point;
import io.penstock.pool.curve.WhatIf;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Result of `penstock whatif`.
///
/// @param source the node or the trace
/// @param policy whose hit rates are estimated: always `lru`
/// @param spaces one for each cache space
record WhatIfReport(String source, String policy, List<Space> spaces) {
  WhatIfReport {
    spaces = List.copyOf(spaces);
  }

  /// @param name of the tier, or of the trace
  /// @param size of the blocks
  /// @param references that the curve has seen
  /// @param trace facts that only a trace tells; null for a node
  /// @param rate part of the keys that are sampled
  /// @param samples sampled keys
  /// @param depthBlocks greatest capacity that the curve covers
  /// @param steps by level: the present capacity, then the steps
  /// @param curve the hit rate by capacity
  record Space(String name, ModelSize size, long references, @Nullable OfTrace trace, double rate, int samples,
      long depthBlocks, List<Step> steps, List<At> curve) {
    Space {
      steps = List.copyOf(steps);
      curve = List.copyOf(curve);
    }
  }

  /// @param workingSetBlocks different blocks
  /// @param workingSetBytes their bytes
  /// @param ceilingHitRate hit rate without a bound
  /// @param promptTokens tokens of all prompts
  /// @param kneeBlocks capacity at the knee of the exact curve; null without hits
  /// @param kneeHitRate hit rate there
  /// @param kneePrefillSecondsSaved time that an engine would need for the tokens of these hits
  /// @param isAssumed whether the present capacity was assumed, because none was given
  /// @param knee of the exact curve; null without hits
  record OfTrace(long workingSetBlocks, long workingSetBytes, double ceilingHitRate, long promptTokens,
      @Nullable Long kneeBlocks, @Nullable Double kneeHitRate, @Nullable Double kneePrefillSecondsSaved,
      boolean isAssumed, @JsonIgnore LruCurve.@Nullable At knee) {
    static OfTrace of(TraceWhatIf read, ModelSize size, boolean isAssumed) {
      long distinct = read.totals().distinctBlocks();
      LruCurve.At knee = read.knee().orElse(null);
      return new OfTrace(distinct, size.bytes(distinct), read.totals().ceiling(), read.totals().promptTokens(),
          knee == null ? null : (Long) knee.blocks(), knee == null ? null : (Double) knee.hitRate(),
          knee == null ? null : (Double) size.seconds(knee.tokens()), isAssumed, knee);
    }
  }

  /// One level with another capacity.
  ///
  /// @param addBlocks blocks beyond the present capacity; 0 for the present capacity
  /// @param capacityBlocks capacity of the level with them
  /// @param capacityBytes its bytes
  /// @param tier the whole tier with them
  /// @param upToLevel this level and the faster ones with them
  /// @param exactHitRate of the whole tier; null if unknown
  /// @param beyond whether the capacity is beyond the curve, so that the hit rates are lower bounds
  /// @param tokensReused tokens of the hits of the whole tier, exact where the hit rate is
  /// @param prefillSecondsSaved time that an engine would need for them
  record Step(String level, long addBlocks, long capacityBlocks, long capacityBytes, Change tier, Change upToLevel,
      @Nullable Double exactHitRate, boolean beyond, long tokensReused, double prefillSecondsSaved) {}

  /// A hit rate and how much it is above that of the present capacity, each with half the width of its 95 % interval.
  record Change(double hitRate, double plusMinus, double gain, double gainPlusMinus) {
    static Change of(Point point, Point gain) {
      return new Change(point.hitRate(), point.plusMinus(), gain.hitRate(), gain.plusMinus());
    }
  }

  /// A point of the curve.
  ///
  /// @param exactHitRate null if unknown
  /// @param tokensReused tokens of the hits, exact where the hit rate is
  record At(long capacityBlocks, double hitRate, double plusMinus, @Nullable Double exactHitRate, long tokensReused) {}

  /// The space of a node.
  static Space ofNode(String name, WhatIf whatIf, ModelSize size, CapacitySteps wanted) {
    return new Maker(whatIf, size, null).space(name, null, wanted);
  }

  /// The space of a trace.
  ///
  /// @param isAssumed whether the levels of `whatIf` were assumed
  static Space ofTrace(String name, WhatIf whatIf, ModelSize size, TraceWhatIf read, boolean isAssumed,
      CapacitySteps wanted) {
    return new Maker(whatIf, size, read).space(name, OfTrace.of(read, size, isAssumed), wanted);
  }

  /// @param read the exact curve; null if unknown
  private record Maker(WhatIf whatIf, ModelSize size, @Nullable TraceWhatIf read) {
    Space space(String name, @Nullable OfTrace trace, CapacitySteps wanted) {
      HitRateCurve curve = whatIf.curve();
      List<Step> steps = new ArrayList<>();
      for (int i = 0; i < whatIf.levels().size(); i++) {
        for (long add : wanted.of(whatIf.levels().get(i), size)) {
          steps.add(step(i, add));
        }
      }
      return new Space(name, size, curve.references(), trace, curve.rate(), curve.samples(), curve.depthBlocks(), steps,
          curve.points().stream().map(this::at).toList());
    }

    private Step step(int number, long add) {
      WhatIf.Level level = whatIf.levels().get(number);
      long capacity = level.capacityBlocks() > Long.MAX_VALUE - add ? Long.MAX_VALUE : level.capacityBlocks() + add;
      Point whole = whatIf.whole(number, capacity);
      long tokens = tokens(whole);
      return new Step(level.name(), add, capacity, size.bytes(capacity),
          Change.of(whole, whatIf.gainOfWhole(number, capacity)),
          Change.of(whatIf.upTo(number, capacity), whatIf.gainUpTo(number, capacity)), exact(whole),
          whole.capacityBlocks() > whatIf.curve().depthBlocks(), tokens, size.seconds(tokens));
    }

    private long tokens(Point whole) {
      return read == null
          ? Math.round(whole.hitRate() * whatIf.curve().references() * size.blockTokens())
          : read.tokens(whole.capacityBlocks());
    }

    private At at(Point point) {
      return new At(point.capacityBlocks(), point.hitRate(), point.plusMinus(), exact(point), tokens(point));
    }

    private @Nullable Double exact(Point point) {
      return read == null ? null : (Double) read.exactHitRate(point.capacityBlocks());
    }
  }
}
