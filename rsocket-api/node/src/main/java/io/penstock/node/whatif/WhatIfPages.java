package io.penstock.node.whatif;

import io.micrometer.core.instrument.MeterRegistry;
import io.penstock.meter.WhatIfGauges;
import io.penstock.node.cli.Json;
import io.penstock.pool.WhatIf;
import io.penstock.tier.TierInfo;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// What the admin server shows of the estimate of a tier: JSON, a chart and gauges.
public final class WhatIfPages {
  private final TierInfo tier;
  private final Supplier<WhatIf> source;
  private @Nullable WhatIfGauges gauges;

  /// @param source the estimate of `tier` at this moment
  public WhatIfPages(TierInfo tier, Supplier<WhatIf> source) {
    this.tier = tier;
    this.source = source;
  }

  /// Shows the gauges in `registry`.
  public void bindTo(MeterRegistry registry) {
    gauges = WhatIfGauges.bind(registry, tier, source);
  }

  /// Makes the gauges show the present estimate.
  public void refresh() {
    if (gauges != null) {
      gauges.refresh();
    }
  }

  public String json() {
    return Json.of(WhatIfAnswer.of(tier, source.get()));
  }

  public String svg() {
    return new WhatIfChart(tier.name(), source.get(), tier.space().layout().blockBytes(), null).svg();
  }
}
