package io.penstock.node.trace;

import static java.util.Objects.requireNonNull;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// Several traces in turn, 2,000 requests of each.
final class PhasedTrace implements TraceSource {
  private static final int PHASE_REQUESTS = 2_000;

  private final GeneratorOptions options;
  private final List<TraceSource> sources;
  private int made;
  private long millis;
  private long before;

  private PhasedTrace(GeneratorOptions options, List<TraceSource> sources) {
    this.options = options;
    this.sources = sources;
  }

  static TraceSource of(GeneratorOptions options, List<Workload> workloads) {
    return new PhasedTrace(options, workloads.stream().map(each -> each.open(options)).toList());
  }

  @Override
  public @Nullable TraceRequest next() {
    if (made == options.requests()) {
      return null;
    }
    int source = made / PHASE_REQUESTS % sources.size();
    TraceRequest request = requireNonNull(sources.get(source).next(), "request");
    millis += made % PHASE_REQUESTS == 0 ? 0 : request.timestampMillis() - before;
    before = request.timestampMillis();
    made++;
    return MixedTrace.of(source, request, millis, sources.size());
  }
}
