package io.penstock.meter;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.penstock.pool.curve.HitRateCurve;
import io.penstock.pool.curve.WhatIf;
import io.penstock.tier.TierInfo;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/// Shows the hit rates to expect at other capacities of a tier's levels. A gauge that is read makes a new estimate if
/// the last one is older than [Freshness#MAX_AGE]: one estimate serves all gauges of a scrape.
final class WhatIfGauges {
  private final Supplier<WhatIf> source;
  private final Freshness age;
  private volatile WhatIf latest;

  private WhatIfGauges(Supplier<WhatIf> source, LongSupplier nanos) {
    this.source = source;
    this.age = new Freshness(nanos);
    this.latest = source.get();
  }

  /// @param source the estimate of the tier at this moment
  /// @param nanos clock that tells the age of the estimate
  static WhatIfGauges bind(MeterRegistry registry, TierInfo tier, Supplier<WhatIf> source, LongSupplier nanos) {
    WhatIfGauges gauges = new WhatIfGauges(source, nanos);
    for (int level = 0; level < gauges.latest.levels().size(); level++) {
      for (double factor : WhatIf.FACTORS) {
        gauges.show(registry, tier, level, factor);
      }
    }
    return gauges;
  }

  private void show(MeterRegistry registry, TierInfo tier, int level, double factor) {
    Tags tags = Tags.of(MeterTag.TIER.asString(), tier.name(), MeterTag.LEVEL.asString(),
        latest.levels().get(level).name(), MeterTag.SPACE.asString(), tier.space().publicId(),
        MeterTag.FACTOR.asString(), String.valueOf(factor));
    Gauges.gauge(registry, KvMeters.LEVEL_WHATIF, tags, this,
        gauges -> gauges.value(level, factor, HitRateCurve.Point::hitRate));
    Gauges.gauge(registry, KvMeters.LEVEL_WHATIF_ERROR, tags, this,
        gauges -> gauges.value(level, factor, HitRateCurve.Point::plusMinus));
  }

  private double value(int level, double factor, ToDoubleFunction<HitRateCurve.Point> figure) {
    if (age.claim()) {
      latest = source.get();
    }
    WhatIf now = latest;
    return now.curve().points().isEmpty()
        ? Double.NaN
        : figure.applyAsDouble(now.upTo(level, now.levels().get(level).times(factor)));
  }

}
