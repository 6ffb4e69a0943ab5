package io.penstock.wire.report;

import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.trace.TraceContext;
import org.jspecify.annotations.Nullable;

/// Hears of the streams of slices of a `KvServer`, or of the gets and puts of a `KvClient`, for meters and the log:
/// each that ended. Called on the threads of the transport, so it must neither block nor throw. Without one no clock is
/// read.
@FunctionalInterface
public interface StreamListener {
  /// Hears nothing: the streams of such a listener read no clock.
  StreamListener NOOP = report -> {};

  /// A stream ended.
  void ended(Report report);

  /// The rate of a connection refused a request.
  default void requestRefused() {
    // ignored by listeners without rates
  }

  /// The rate of a connection has bytes wait for so long.
  default void bytesDelayed(long nanos) {
    // ignored by listeners without rates
  }

  /// A listener that ignores all events.
  static StreamListener noop() {
    return NOOP;
  }

  /// End of a stream, and its times: at a client from the question until the reader had all of a get, and until the
  /// node had stored all of a put. Waits are measured at the node, and 0 at a client: bytes that the socket has not
  /// taken yet hold the budget.
  ///
  /// @param route `get`, `put`, `read` or `write`
  /// @param peer address of the peer
  /// @param transport of its frames at a client; empty at a node
  /// @param isOutgoing whether the bytes left the reporting party
  /// @param inlineBytes that came or went in frames
  /// @param sharedBytes that were read in the memory of the sender
  /// @param nanos from its beginning to its end
  /// @param peerNanos it waited for the peer: for credit of a reader, for slices of a writer
  /// @param budgetNanos it waited for room in the budget, or in the send window
  /// @param tierNanos it waited for the tier, to give blocks or to make room for them
  /// @param failure null if it did not fail
  /// @param trace that it belongs to; null for none
  record Report(String route, String peer, String transport, boolean isOutgoing, long inlineBytes, long sharedBytes,
      long nanos,
      long peerNanos, long budgetNanos, long tierNanos, @Nullable ErrorCode failure,
      @Nullable TraceContext trace) {
    public long bytes() {
      return inlineBytes + sharedBytes;
    }

    /// Carrier of the bytes, of most of them if there were two.
    public Carrier carrier() {
      return sharedBytes > inlineBytes ? Carrier.SHARED_MEMORY : Carrier.INLINE;
    }
  }
}
