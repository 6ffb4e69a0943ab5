package io.penstock.node.trace;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// Several traces in turn, some thousand requests of each. Equal ids of two traces stand for different blocks.
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
    boolean isFirst = made % PHASE_REQUESTS == 0;
    made++;
    TraceRequest request = sources.get(source).next();
    millis += isFirst ? 0 : request.timestampMillis() - before;
    before = request.timestampMillis();
    return new TraceRequest(millis, request.inputTokens(), request.outputTokens(),
        request.hashIds().stream().map(id -> id * sources.size() + source).toList());
  }
}
