package io.penstock.node.trace;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Several traces at once, in order of their times.
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
    int first = earliest();
    TraceRequest request = requireNonNull(heads.get(first), "request");
    heads.set(first, sources.get(first).next());
    return of(first, request, request.timestampMillis(), sources.size());
  }

  /// The source whose next request comes first. A source has as many requests as this trace, so one has requests left.
  private int earliest() {
    int first = 0;
    for (int i = 1; i < heads.size(); i++) {
      first = millis(i) < millis(first) ? i : first;
    }
    return first;
  }

  private long millis(int source) {
    TraceRequest head = heads.get(source);
    return head == null ? Long.MAX_VALUE : head.timestampMillis();
  }

  /// `request` of source `source`, with ids that no other of `sources` has.
  static TraceRequest of(int source, TraceRequest request, long millis, int sources) {
    return new TraceRequest(millis, request.inputTokens(), request.outputTokens(),
        request.hashIds().stream().map(id -> id * sources + source).toList());
  }
}
