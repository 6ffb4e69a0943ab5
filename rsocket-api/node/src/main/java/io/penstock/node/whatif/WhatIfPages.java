package io.penstock.node.whatif;

import static java.util.Objects.requireNonNull;

import io.micrometer.core.instrument.MeterRegistry;
import io.penstock.meter.WhatIfGauges;
import io.penstock.node.shape.ModelSize;
import io.penstock.node.text.Json;
import io.penstock.pool.curve.WhatIf;
import io.penstock.tier.TierInfo;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Pages of the admin server about the estimates of all tiers of a node, one for each space: JSON, charts and gauges.
public final class WhatIfPages {
  /// A tier and its estimate.
  ///
  /// @param estimate at this moment
  public record Source(TierInfo tier, Supplier<WhatIf> estimate) {
    public Source {
      requireNonNull(tier, "tier");
      requireNonNull(estimate, "estimate");
    }

    private WhatIfAnswer.Space answer() {
      return WhatIfAnswer.Space.of(tier, estimate.get());
    }

    private String svg() {
      return new WhatIfChart(tier.name(), estimate.get(), ModelSize.of(tier.name(), tier.space().layout())).svg();
    }
  }

  private final Supplier<List<Source>> sources;
  private final Map<String, WhatIfGauges> gauges = new ConcurrentHashMap<>();
  private @Nullable MeterRegistry registry;

  /// @param sources of all tiers; there may be more of them later
  public WhatIfPages(Supplier<List<Source>> sources) {
    this.sources = sources;
  }

  /// Shows the gauges in `registry`.
  public void bindTo(MeterRegistry registry) {
    this.registry = registry;
    refresh();
  }

  /// Sets the gauges to the present estimates.
  public void refresh() {
    MeterRegistry bound = registry;
    if (bound != null) {
      sources.get().forEach(source -> gauges
          .computeIfAbsent(source.tier.name(), any -> WhatIfGauges.bind(bound, source.tier, source.estimate))
          .refresh());
    }
  }

  /// The answers of all spaces.
  public String json() {
    return Json.of(new WhatIfAnswer(WhatIfAnswer.POLICY, sources.get().stream().map(Source::answer).toList()));
  }

  /// The chart of one space.
  ///
  /// @param space name of its tier; null for the first
  /// @return empty if there is no such space
  public Optional<String> svg(@Nullable String space) {
    return sources.get().stream().filter(source -> space == null || source.tier.name().equals(space)).findFirst()
        .map(Source::svg);
  }
}
