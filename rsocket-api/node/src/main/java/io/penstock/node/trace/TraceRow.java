package io.penstock.node.trace;

import org.jspecify.annotations.Nullable;

/// One line of a trace, before its session is known.
///
/// @param line its number, from 1
/// @param millis arrival since the start of the trace; null where only a delay is stated
/// @param delayMillis time since the session's line before; null without one
/// @param session name of the session; null without one
/// @param inputTokens length of the prompt, or of its new part
/// @param outputTokens length of the answer, 0 where the line does not state it
/// @param ids of the blocks, as unsigned integers
/// @param blockTokens tokens of a block
record TraceRow(long line, @Nullable Double millis, @Nullable Double delayMillis, @Nullable String session,
    long inputTokens, long outputTokens, long[] ids, int blockTokens) {}
