package io.penstock.node.whatif;

import io.penstock.pool.curve.HitRateCurve;
import io.penstock.pool.curve.HitRateCurve.Point;
import io.penstock.pool.curve.WhatIf;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongToDoubleFunction;
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
  /// @param blockBytes bytes of one block; null if unknown
  /// @param references that the curve has seen
  /// @param workingSetBlocks different blocks; null if unknown
  /// @param rate part of the keys that are sampled
  /// @param samples sampled keys
  /// @param depthBlocks greatest capacity that the curve covers
  /// @param steps by level: the present capacity, then the steps
  /// @param curve the hit rate by capacity
  record Space(String name, @Nullable Long blockBytes, long references, @Nullable Long workingSetBlocks, double rate,
      int samples, long depthBlocks, List<Step> steps, List<At> curve) {
    Space {
      steps = List.copyOf(steps);
      curve = List.copyOf(curve);
    }
  }

  /// One level with another capacity.
  ///
  /// @param addBlocks blocks beyond the present capacity; 0 for the present capacity
  /// @param capacityBlocks capacity of the level with them
  /// @param tier the whole tier with them
  /// @param upToLevel this level and the faster ones with them
  /// @param exactHitRate of the whole tier; null if unknown
  /// @param beyond whether the capacity is beyond the curve, so that the hit rates are lower bounds
  record Step(String level, long addBlocks, long capacityBlocks, Change tier, Change upToLevel,
      @Nullable Double exactHitRate, boolean beyond) {}

  /// A hit rate and how much it is above that of the present capacity, each with half the width of its 95 % interval.
  record Change(double hitRate, double plusMinus, double gain, double gainPlusMinus) {
    static Change of(Point point, Point gain) {
      return new Change(point.hitRate(), point.plusMinus(), gain.hitRate(), gain.plusMinus());
    }
  }

  /// A point of the curve.
  ///
  /// @param exactHitRate null if unknown
  record At(long capacityBlocks, double hitRate, double plusMinus, @Nullable Double exactHitRate) {}

  /// @param exact the exact hit rate of a capacity in blocks; null if unknown
  static Space space(String name, WhatIf whatIf, @Nullable Long blockBytes, @Nullable Long workingSetBlocks,
      CapacitySteps wanted, @Nullable LongToDoubleFunction exact) {
    HitRateCurve curve = whatIf.curve();
    List<Step> steps = new ArrayList<>();
    for (int i = 0; i < whatIf.levels().size(); i++) {
      for (long add : wanted.of(whatIf.levels().get(i), blockBytes)) {
        steps.add(step(whatIf, i, add, exact));
      }
    }
    return new Space(name, blockBytes, curve.references(), workingSetBlocks, curve.rate(), curve.samples(),
        curve.depthBlocks(), steps, curve.points().stream().map(point -> at(point, exact)).toList());
  }

  private static Step step(WhatIf whatIf, int number, long add, @Nullable LongToDoubleFunction exact) {
    WhatIf.Level level = whatIf.levels().get(number);
    long capacity = level.capacityBlocks() > Long.MAX_VALUE - add ? Long.MAX_VALUE : level.capacityBlocks() + add;
    Point whole = whatIf.whole(number, capacity);
    return new Step(level.name(), add, capacity, Change.of(whole, whatIf.gainOfWhole(number, capacity)),
        Change.of(whatIf.upTo(number, capacity), whatIf.gainUpTo(number, capacity)),
        exact == null ? null : (Double) exact.applyAsDouble(whole.capacityBlocks()),
        whole.capacityBlocks() > whatIf.curve().depthBlocks());
  }

  private static At at(Point point, @Nullable LongToDoubleFunction exact) {
    return new At(point.capacityBlocks(), point.hitRate(), point.plusMinus(),
        exact == null ? null : (Double) exact.applyAsDouble(point.capacityBlocks()));
  }
}
