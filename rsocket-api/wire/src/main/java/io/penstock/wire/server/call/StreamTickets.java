package io.penstock.wire.server.call;

import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.slice.InFlight;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Mono;

/// The streams of one connection, until they are drained, by the ticket that their client chose. Safe from any thread.
public final class StreamTickets {
  /// Maximum number of endless streams of a connection: each event is written for each of them.
  static final int MOST_ENDLESS = 16;

  /// Ticket of a client that will not ask for the stream.
  private static final long NONE = 0;

  private final int most;
  private final RunningStreams running;
  private final AtomicInteger endless = new AtomicInteger();
  private final Map<Object, InFlight> streams = new ConcurrentHashMap<>();

  /// @param most maximum number of streams of the connection
  /// @param running counts those of all connections that keep the server from draining
  public StreamTickets(int most, RunningStreams running) {
    this.most = most;
    this.running = running;
  }

  /// A stream of blocks, which keeps the server from draining.
  ///
  /// @throws WireFormatException if there are too many, or one with this ticket
  public InFlight enter(long ticket) {
    InFlight inFlight = count(ticket);
    inFlight.onDrained(running::leave);
    running.enter(); // last, and without an allocation: what counts is given back
    return inFlight;
  }

  /// Enters an endless stream: it counts among those of the connection, but keeps no server from draining.
  ///
  /// @throws WireFormatException if there are too many
  public InFlight enterEndless() {
    int now = endless.incrementAndGet();
    try {
      if (now > MOST_ENDLESS) {
        throw new WireFormatException(ErrorCode.LIMIT_EXCEEDED, "streams of events", "<= " + MOST_ENDLESS, now);
      }
      InFlight inFlight = count(NONE);
      inFlight.onDrained(endless::decrementAndGet);
      return inFlight;
    } catch (RuntimeException | Error e) {
      endless.decrementAndGet();
      throw e;
    }
  }

  private InFlight count(long ticket) {
    InFlight inFlight = new InFlight();
    Object id = ticket == NONE ? inFlight : (Object) ticket; // a stream without a ticket counts too
    if (streams.size() >= most) {
      throw new WireFormatException(ErrorCode.LIMIT_EXCEEDED, "streams", "< " + most, streams.size());
    }
    if (streams.putIfAbsent(id, inFlight) != null) {
      throw WireFormatException.request("ticket", "unused on this connection", ticket);
    }
    inFlight.onDrained(() -> streams.remove(id, inFlight));
    return inFlight;
  }

  /// The client has landed all slices of the windows up to that of `told`. A stream that is over keeps nothing.
  public void landed(Messages.Landed told) {
    InFlight inFlight = streams.get(told.ticket());
    if (inFlight != null) {
      inFlight.landed(told.window());
    }
  }

  /// The connection is gone, and every stream was cancelled. A stream that missed the cancel is over, too.
  public void close() {
    List.copyOf(streams.values()).forEach(InFlight::abandon);
  }

  /// Completes when the stream with `ticket` is drained, at once if there is none.
  public Mono<Void> drained(long ticket) {
    return Mono.create(sink -> {
      InFlight inFlight = streams.get(ticket);
      if (inFlight == null) {
        sink.success();
      } else {
        Runnable drained = sink::success;
        inFlight.onDrained(drained);
        sink.onCancel(() -> inFlight.forget(drained));
      }
    });
  }
}
