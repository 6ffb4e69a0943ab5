package io.penstock.node.trace;

/// A line whose arrival and prompt are known.
///
/// @param millis arrival since the start of the trace
/// @param run its first `blocks` ids are the prompt's
record ArrivedRow(double millis, long inputTokens, long outputTokens, BlockRun run, int blocks) {
  TraceRequest request() {
    return new TraceRequest(Math.round(millis), inputTokens, outputTokens, run.prefix(blocks));
  }
}
