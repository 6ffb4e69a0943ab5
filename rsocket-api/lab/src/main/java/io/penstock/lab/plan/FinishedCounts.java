package io.penstock.lab.plan;

import io.penstock.check.Checks;
import java.util.HashMap;
import java.util.Map;

/// Counts reports of the ranks of an instance as engines do: each takes one from what is left of a request, and a
/// request is finished at zero and forgotten, so surplus reports begin a new count. Not thread-safe.
///
/// A tracker that counts distinct senders of a `TransferPlan` has no such surplus; this is what an engine expects.
public final class FinishedCounts {
  private final int expected;
  private final Map<String, Integer> left = new HashMap<>();

  /// @param expected reports for each request
  public FinishedCounts(int expected) {
    this.expected = Checks.positive("expected", expected);
  }

  /// @return whether the request is finished with this report
  public boolean report(String request) {
    int remaining = left.getOrDefault(request, expected) - 1;
    if (remaining == 0) {
      left.remove(request);
    } else {
      left.put(request, remaining);
    }
    return remaining == 0;
  }
}
