package io.penstock.meter;

import static java.util.Objects.requireNonNull;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.penstock.disagg.request.LifecycleListener;
import io.penstock.disagg.request.PrefillConnector;
import io.penstock.disagg.request.PrefillConnector.Figures;
import io.penstock.disagg.request.Release;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/// Counts the ends of the requests that a prefill rank keeps: the listener of its [PrefillConnector]. Every meter
/// exists from the start, at 0. Safe from any thread.
public final class RequestMeters implements LifecycleListener {
  private final MeterRegistry registry;
  private final Map<Release, Counter> ended = new EnumMap<>(Release.class);

  /// @param registry where the meters live
  public RequestMeters(MeterRegistry registry) {
    this.registry = requireNonNull(registry, "registry");
    for (Release release : Release.values()) {
      ended.put(release, Counter.builder(KvMeters.REQUESTS_ENDED.getName())
          .description(KvMeters.REQUESTS_ENDED.description())
          .tag(MeterTag.REASON.asString(), release.name().toLowerCase(Locale.ROOT)).register(registry));
    }
  }

  /// Shows what `requests` keeps, and the signals that changed nothing. The registry keeps it alive.
  public void show(PrefillConnector requests) {
    Gauges.gauge(registry, KvMeters.REQUESTS_KEPT, Tags.empty(), requests, all -> all.figures().held());
    Gauges.gauge(registry, KvMeters.REQUESTS_REMEMBERED, Tags.empty(), requests, all -> all.figures().remembered());
    ignored("duplicate", requests, Figures::duplicates);
    ignored("late", requests, Figures::late);
    ignored("stranger", requests, Figures::strangers);
  }

  private void ignored(String result, PrefillConnector requests, ToDoubleFunction<Figures> count) {
    FunctionCounter.builder(KvMeters.REQUESTS_IGNORED.getName(), requests,
        all -> count.applyAsDouble(all.figures())).description(KvMeters.REQUESTS_IGNORED.description())
        .tag(MeterTag.RESULT.asString(), result).register(registry);
  }

  @Override
  public void released(String request, Release release) {
    requireNonNull(ended.get(release), "counter").increment();
  }
}
