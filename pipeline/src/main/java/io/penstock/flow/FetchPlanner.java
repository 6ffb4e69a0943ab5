package io.penstock.flow;

import io.penstock.flow.LoadPrefix.Part;
import io.penstock.flow.LoadPrefix.Plan;
import io.penstock.flow.LoadPrefix.Reason;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Chooses how much of a prefix to fetch. Pure.
final class FetchPlanner {
  private static final double NANOS = Duration.ofSeconds(1).toNanos();

  private FetchPlanner() {}

  /// A plan that fetches all, because plans are turned off.
  static Plan all(List<Part> parts) {
    int found = Plan.blocks(parts);
    return new Plan(parts, found, found == 0 ? Reason.MISS : Reason.OFF, 0, 0, 0);
  }

  /// The fastest plan. Only ends of parts are compared: within a part each block costs the same, so the best end of a
  /// prefix is never between them.
  ///
  /// @param tokensPerSecond how fast the engine computes a prefill
  static Plan fastest(List<Part> parts, long blockBytes, int blockTokens, double tokensPerSecond) {
    double blockNanos = blockTokens * NANOS / tokensPerSecond;
    int found = Plan.blocks(parts);
    long computeNanos = Math.round(found * blockNanos);
    Map<String, Long> bytesOfPlace = new HashMap<>();
    long fetchNanos = 0;
    long best = computeNanos;
    int bestParts = 0;
    int blocks = 0;
    for (int i = 0; i < parts.size(); i++) {
      Part part = parts.get(i);
      long bytes = bytesOfPlace.merge(part.place(), part.blocks() * blockBytes, Long::sum);
      fetchNanos += nanos(part, bytes) - nanos(part, bytes - part.blocks() * blockBytes);
      blocks += part.blocks();
      long time = fetchNanos + Math.round((found - blocks) * blockNanos);
      if (time <= best) {
        best = time;
        bestParts = i + 1;
      }
    }
    List<Part> fetched = parts.subList(0, bestParts);
    return new Plan(parts, Plan.blocks(fetched), reason(parts, fetched), best, fetchNanos, computeNanos);
  }

  /// Estimated time to fetch `bytes` from the place of `part`; a place without an estimate counts as free.
  private static long nanos(Part part, long bytes) {
    return part.rate() == null || bytes == 0 ? 0 : part.rate().nanos(bytes);
  }

  private static Reason reason(List<Part> parts, List<Part> fetched) {
    if (parts.isEmpty()) {
      return Reason.MISS;
    } else if (fetched.stream().anyMatch(part -> part.rate() == null)) {
      return Reason.UNKNOWN;
    } else if (fetched.isEmpty()) {
      return Reason.COMPUTE;
    }
    return fetched.size() == parts.size() ? Reason.FETCH : Reason.PART;
  }
}
