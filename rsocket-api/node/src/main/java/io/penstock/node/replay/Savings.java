package io.penstock.node.replay;

import io.penstock.node.replay.report.PolicyHits;
import io.penstock.node.replay.report.Reuse;
import io.penstock.node.shape.ModelSize;
import io.penstock.node.trace.TraceRequest;
import io.penstock.node.trace.TraceSource;
import io.penstock.node.trace.TraceTotals;
import org.jspecify.annotations.Nullable;

/// Tokens that the hits of a run save, and the ceiling of its requests. Requests are counted where they are read, in
/// the order of the trace, and deliveries where they end: each by one thread at a time.
final class Savings {
  private final TraceTotals totals;
  private final @Nullable PolicyAlone policy;
  private long tokensReused;

  /// @param blockTokens tokens of a block
  /// @param policy counts the same requests; null for none
  Savings(int blockTokens, @Nullable PolicyAlone policy) {
    this.policy = policy;
    this.totals = new TraceTotals(blockTokens);
  }

  /// `trace`, whose requests are counted as they are read.
  TraceSource counted(TraceSource trace) {
    return () -> {
      TraceRequest request = trace.next();
      if (request != null) {
        totals.add(request);
        if (policy != null) {
          policy.add(request);
        }
      }
      return request;
    };
  }

  void add(Replay.Served served) {
    tokensReused += served.request().tokens(served.delivery().prefixHits(), totals.blockTokens());
  }

  /// Hits of the policy alone, after the end of the run; null if it was not counted.
  @Nullable PolicyHits policyHits() {
    return policy == null ? null : policy.hits();
  }

  /// After the end of the run.
  Reuse reuse(ModelSize size) {
    return Reuse.of(size, totals, tokensReused);
  }
}
