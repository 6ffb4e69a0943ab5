package io.penstock.node.trace;

import static java.util.Objects.requireNonNull;

import java.util.List;

/// One request of a trace.
///
/// @param timestampMillis when it arrived, counted from the start of the trace
/// @param inputTokens length of its prompt
/// @param outputTokens length of its answer
/// @param hashIds one id a block of the prompt; each stands for the block and all before it; distinct
public record TraceRequest(long timestampMillis, long inputTokens, long outputTokens, List<Long> hashIds) {
  public TraceRequest {
    notNegative("timestampMillis", timestampMillis);
    notNegative("inputTokens", inputTokens);
    notNegative("outputTokens", outputTokens);
    hashIds = List.copyOf(requireNonNull(hashIds, "hashIds"));
  }

  /// Blocks that the prompt references.
  public int blocks() {
    return hashIds.size();
  }

  private static void notNegative(String name, long value) {
    if (value < 0) {
      throw new IllegalArgumentException(name + " must be >= 0 (was " + value + ")");
    }
  }
}
