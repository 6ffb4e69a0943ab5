package io.penstock.node.replay;

import io.penstock.node.replay.report.Reuse;
import io.penstock.node.shape.ModelSize;
import io.penstock.node.trace.TraceRequest;
import io.penstock.node.trace.TraceSource;
import io.penstock.node.trace.TraceTotals;

/// Tokens that the hits of a run save, and the ceiling of its requests. Requests are counted where they are read, in
/// the order of the trace, and deliveries where they end: each by one thread at a time.
final class Savings {
  private final TraceTotals totals;
  private long tokensReused;

  /// @param blockTokens tokens of a block
  Savings(int blockTokens) {
    this.totals = new TraceTotals(blockTokens);
  }

  /// `trace`, whose requests are counted as they are read.
  TraceSource counted(TraceSource trace) {
    return () -> {
      TraceRequest request = trace.next();
      if (request != null) {
        totals.add(request);
      }
      return request;
    };
  }

  void add(Replay.Served served) {
    tokensReused += served.request().tokens(served.delivery().prefixHits(), totals.blockTokens());
  }

  /// After the end of the run.
  Reuse reuse(ModelSize size) {
    return Reuse.of(size, totals, tokensReused);
  }
}
