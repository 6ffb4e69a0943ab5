package io.penstock.node.trace;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Several traces at once, in order of their times. Equal ids of two traces stand for different blocks.
final class MixedTrace implements TraceSource {
  private final GeneratorOptions options;
  private final List<TraceSource> sources;
  private final List<@Nullable TraceRequest> heads = new ArrayList<>();
  private int made;

  private MixedTrace(GeneratorOptions options, List<TraceSource> sources) {
    this.options = options;
    this.sources = sources;
    sources.forEach(source -> heads.add(source.next()));
  }

  static TraceSource of(GeneratorOptions options, List<Workload> workloads) {
    return new MixedTrace(options, workloads.stream().map(each -> each.open(options)).toList());
  }

  @Override
  public @Nullable TraceRequest next() {
    if (made == options.requests()) {
      return null;
    }
    made++;
    int first = -1;
    for (int i = 0; i < heads.size(); i++) {
      TraceRequest head = heads.get(i);
      if (head != null && (first < 0 || head.timestampMillis() < heads.get(first).timestampMillis())) {
        first = i;
      }
    }
    TraceRequest request = heads.get(first);
    heads.set(first, sources.get(first).next());
    int source = first;
    return new TraceRequest(request.timestampMillis(), request.inputTokens(), request.outputTokens(),
        request.hashIds().stream().map(id -> id * sources.size() + source).toList());
  }
}
