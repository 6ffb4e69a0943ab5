package io.penstock.node.trace;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import java.util.List;

/// One request of a trace.
///
/// @param timestampMillis when it arrived, counted from the start of the trace
/// @param inputTokens length of its prompt
/// @param outputTokens length of its answer; 0 where the trace does not state it
/// @param hashIds one id a block of the prompt; each stands for the block and all before it; unsigned and distinct
public record TraceRequest(long timestampMillis, long inputTokens, long outputTokens, List<Long> hashIds) {
  public TraceRequest {
    Checks.notNegative("timestampMillis", timestampMillis);
    Checks.notNegative("inputTokens", inputTokens);
    Checks.notNegative("outputTokens", outputTokens);
    hashIds = List.copyOf(requireNonNull(hashIds, "hashIds"));
  }

  /// Blocks that the prompt references.
  public int blocks() {
    return hashIds.size();
  }

  /// Tokens of the first `prefix` blocks. The last block of a prompt may have fewer tokens than the others.
  ///
  /// @param blockTokens tokens of a whole block
  public long tokens(int prefix, int blockTokens) {
    return Math.min(inputTokens, (long) prefix * blockTokens);
  }
}
