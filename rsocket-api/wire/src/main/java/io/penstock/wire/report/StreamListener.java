package io.penstock.wire.report;

import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.trace.TraceContext;
import java.util.LinkedHashMap;
import java.util.Map;
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
  /// @param waits by culprit
  /// @param failure null if it did not fail
  /// @param trace that it belongs to; null for none
  record Report(String route, String peer, String transport, boolean isOutgoing, long inlineBytes, long sharedBytes,
      long nanos, Waits waits, @Nullable ErrorCode failure,
      @Nullable TraceContext trace) {
    public long bytes() {
      return inlineBytes + sharedBytes;
    }

    /// Nanoseconds of the waits by the word for their culprit, in a fixed order: the peer is a `reader` or a `writer`.
    public Map<String, Long> byCulprit() {
      Map<String, Long> nanosOf = new LinkedHashMap<>();
      nanosOf.put(isOutgoing ? "reader" : "writer", waits.peer());
      nanosOf.put("budget", waits.budget());
      nanosOf.put("rate", waits.rate());
      nanosOf.put("slots", waits.room());
      nanosOf.put("tier", waits.tier());
      return nanosOf;
    }

    /// Carrier of the bytes, of most of them if there were two.
    public Carrier carrier() {
      return sharedBytes > inlineBytes ? Carrier.SHARED_MEMORY : Carrier.INLINE;
    }
  }

  /// Waits of a stream by culprit, in nanoseconds.
  ///
  /// @param peer for credit of a reader, for a reader to take bytes that lie in the budget, or for slices of a writer
  /// @param budget for bytes that other parties hold
  /// @param rate until the rate of the connection allows more bytes
  /// @param room for slots of memory
  /// @param tier for the tier to give blocks from a slower level, to write them, or to get them from their writer
  record Waits(long peer, long budget, long rate, long room, long tier) {
    /// No waits.
    public static final Waits NONE = new Waits(0, 0, 0, 0, 0);
  }
}
