package io.penstock.node.trace;

import org.jspecify.annotations.Nullable;

/// A trace whose first request was read ahead, so that its form is known before the first request is served.
public final class PeekedTrace implements TraceSource {
  private final TraceSource source;
  private @Nullable TraceRequest first;

  private PeekedTrace(TraceSource source, @Nullable TraceRequest first) {
    this.source = source;
    this.first = first;
  }

  /// Reads the first request of `source`; closes it if that fails.
  ///
  /// @param source closed with this trace
  public static PeekedTrace of(TraceSource source) {
    try {
      return new PeekedTrace(source, source.next());
    } catch (RuntimeException e) {
      source.close();
      throw e;
    }
  }

  @Override
  public @Nullable TraceRequest next() {
    TraceRequest ahead = first;
    first = null;
    return ahead == null ? source.next() : ahead;
  }

  @Override
  public int blockTokens() {
    return source.blockTokens();
  }

  @Override
  public void close() {
    source.close();
  }
}
