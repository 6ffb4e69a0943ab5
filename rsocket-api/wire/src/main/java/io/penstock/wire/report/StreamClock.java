package io.penstock.wire.report;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.wire.protocol.WireErrors;
import io.penstock.wire.trace.TraceContext;
import io.penstock.wire.transport.SourceAddress;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

/// Waits and bytes of one stream of a node. Without a listener it reads no clock. Touched by steps of the stream only,
/// except for its end.
public final class StreamClock implements Carried {
  private static final int CULPRITS = Wait.values().length;
  private static final long[] NO_TIMES = {};

  /// Clock of streams without a listener.
  public static final StreamClock NONE =
      new StreamClock(StreamListener.NOOP, System::nanoTime, 0, "", "", "", false, Carried.UNCOUNTED, null);

  /// The culprit of a wait of a stream.
  public enum Wait {
    NOTHING,
    /// The peer: a reader gives no credit or does not take its bytes, a writer does not send.
    PEER,
    /// Other parties, which hold the byte budget.
    BUDGET,
    /// The rate that the node allows to the connection.
    RATE,
    /// Room for blocks: slots of memory, or the write queue behind them.
    ROOM,
    /// The tier, which reads blocks from a slower level, writes them to it, or awaits their writer.
    TIER
  }

  private final StreamListener listener;
  private final LongSupplier nanos;
  private final boolean runs;
  private final String route;
  private final Object peer;
  private final String transport;
  private final boolean isOutgoing;
  private final Carried all;
  private final @Nullable TraceContext trace;
  private final long began;
  /// By culprit; empty without a listener.
  private final long[] waited;
  private Wait now = Wait.NOTHING;
  private long since;
  private long inline;
  private long shared;
  @GuardedBy("this") private boolean over;

  private StreamClock(StreamListener listener, LongSupplier nanos, long began, String route, Object peer,
      String transport,
      boolean isOutgoing, Carried all, @Nullable TraceContext trace) {
    this.nanos = nanos;
    this.transport = transport;
    this.trace = trace;
    this.listener = listener;
    this.all = all;
    this.runs = !listener.equals(StreamListener.NOOP);
    this.waited = runs ? new long[CULPRITS] : NO_TIMES;
    this.route = route;
    this.peer = peer;
    this.isOutgoing = isOutgoing;
    this.began = began;
    this.since = began;
  }

  /// @param route as the protocol has it
  /// @param peer reported by its text
  /// @param trace that it belongs to; null for none
  /// @param all counts the bytes of all streams
  public static StreamClock of(StreamListener listener, String route, Object peer, boolean isOutgoing, Carried all,
      @Nullable TraceContext trace) {
    return of(listener, route, peer, "", isOutgoing, all, trace);
  }

  /// @param transport of the frames
  public static StreamClock of(StreamListener listener, String route, Object peer, String transport, boolean isOutgoing,
      Carried all, @Nullable TraceContext trace) {
    return of(listener, now(listener), route, peer, transport, isOutgoing, all, trace);
  }

  private static StreamClock of(StreamListener listener, long began, String route, Object peer, String transport,
      boolean isOutgoing, Carried all, @Nullable TraceContext trace) {
    return of(listener, System::nanoTime, began, route, peer, transport, isOutgoing, all, trace);
  }

  /// A clock that starts now and reads `nanos`.
  static StreamClock of(StreamListener listener, LongSupplier nanos, String route, Object peer, boolean isOutgoing) {
    return of(listener, nanos, nanos.getAsLong(), route, peer, "", isOutgoing, Carried.UNCOUNTED, null);
  }

  private static StreamClock of(StreamListener listener, LongSupplier nanos, long began, String route, Object peer,
      String transport, boolean isOutgoing, Carried all, @Nullable TraceContext trace) {
    return new StreamClock(listener, nanos, began, route, peer, transport, isOutgoing, all, trace);
  }

  /// The time, for [#moved]; 0 if `listener` ignores streams.
  public static long now(StreamListener listener) {
    return listener.equals(StreamListener.NOOP) ? 0 : System.nanoTime();
  }

  /// Reports a stream that is over: `bytes` left this node, in place, to a reader of its memory.
  ///
  /// @param began value of [#now] at its beginning
  public static void moved(StreamListener listener, long began, String route, Object peer, long bytes, Carried all) {
    if (listener.equals(StreamListener.NOOP)) {
      all.count(bytes, true);
    } else {
      StreamClock clock = of(listener, began, route, peer, "", true, all, null);
      clock.count(bytes, true);
      clock.ended(null);
    }
  }

  /// Starts a wait for `who`.
  public void waits(Wait who) {
    if (runs && who != now) {
      long at = nanos.getAsLong();
      waited[now.ordinal()] += at - since;
      now = who;
      since = at;
    }
  }

  @Override
  public void count(long bytes, boolean byReference) {
    all.count(bytes, byReference);
    if (!runs) {
      return;
    }
    if (byReference) {
      shared += bytes;
    } else {
      inline += bytes;
    }
  }

  /// Receives the end of `stream` even if that comes before its first step, and before its subscriber gets it.
  public <T> Flux<T> over(Flux<T> stream) {
    return runs
        ? stream.doOnError(this::ended).doOnComplete(() -> ended(null)).doOnCancel(() -> ended(null))
        : stream;
  }

  private synchronized boolean isFirstEnd() {
    boolean first = !over;
    over = true;
    return first;
  }

  /// Ends the clock; later events do not count. Called from any thread.
  ///
  /// @param error null if it completed, or was cancelled
  public void ended(@Nullable Throwable error) {
    if (!runs || !isFirstEnd()) {
      return;
    }
    waits(Wait.NOTHING);
    String word = route.substring(route.lastIndexOf('.') + 1);
    listener.ended(new StreamListener.Report(word, SourceAddress.words(peer), transport, isOutgoing, inline, shared,
        nanos.getAsLong() - began, new StreamListener.Waits(waited[Wait.PEER.ordinal()], waited[Wait.BUDGET.ordinal()],
            waited[Wait.RATE.ordinal()], waited[Wait.ROOM.ordinal()], waited[Wait.TIER.ordinal()]),
        error == null ? null : WireErrors.codeOf(error), trace));
  }
}
