package io.penstock.lab.bench.session;

import io.penstock.block.session.SessionState;
import org.jspecify.annotations.Nullable;

/// A turn of a conversation: its prompt and answer, as blocks.
///
/// @param millis when it arrives, from the start of the trace
/// @param session its number; −1 for a conversation that names no session
/// @param prompt blocks of the prompt, in order
/// @param blocks of the prompt and its answer, in order
/// @param isReturn whether the pause before it was long
/// @param after what the client says after it; null if it says nothing
record SessionTurn(long millis, int session, int prompt, long[] blocks, boolean isReturn,
    @Nullable SessionState after) {}
