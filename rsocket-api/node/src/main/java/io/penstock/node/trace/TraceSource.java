package io.penstock.node.trace;

import org.jspecify.annotations.Nullable;

/// Requests one after another, read or made as they are asked for: a trace is never in memory as a whole.
///
/// For one thread at a time. [#next()] may touch a disk, so it is not for an event loop.
public interface TraceSource extends AutoCloseable {
  /// The next request, or null after the last.
  ///
  /// @throws TraceFormatException if the next request breaks a rule of the form
  /// @throws java.io.UncheckedIOException if reading fails
  @Nullable TraceRequest next();

  /// Tokens of a block in the form of this trace, known when the first request has been read: 512 in the Mooncake form.
  default int blockTokens() {
    return Conversation.BLOCK_TOKENS;
  }

  /// Ends the source; idempotent.
  @Override
  default void close() {}
}
