package io.penstock.wire.client.link;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.penstock.wire.protocol.ControlCodec;
import io.penstock.wire.protocol.RequestMetadata;
import io.penstock.wire.protocol.WireErrors;
import io.penstock.wire.protocol.WireFailure.ConnectTimeoutException;
import io.penstock.wire.protocol.WireFailure.ConnectionLostException;
import io.penstock.wire.report.Carried;
import io.penstock.wire.report.StreamClock;
import io.penstock.wire.trace.TraceContext;
import io.penstock.wire.transport.TimedTransport;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.transport.ClientTransport;
import io.rsocket.util.ByteBufPayload;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// The client's end of one connection: it turns messages into requests, replies into messages, and names errors. Safe
/// from any thread.
///
/// @param peer named when the connection is the problem
public record NodeConnection(RSocket rsocket, KeptConnection transport, String peer) {
  public static final ControlCodec CODEC = ControlCodec.CBOR;

  /// Connects.
  ///
  /// @param peer named when the connection is the problem
  /// @return cold; each subscription makes a connection
  public static Mono<NodeConnection> open(ClientTransport transport, LinkTerms terms, String peer) {
    return Mono.defer(() -> {
      KeptConnection kept = new KeptConnection(transport, terms);
      return kept.rsocket().map(rsocket -> new NodeConnection(rsocket, kept, peer));
    });
  }

  /// Limits the time that `connecting` takes as a whole. Over a transport without timers the timers of `terms` limit
  /// it; without those there is no limit.
  ///
  /// @param peer named when it was too slow
  public static <T> Mono<T> limited(Mono<T> connecting, ClientTransport transport, LinkTerms terms, String peer) {
    return Mono.defer(() -> {
      Scheduler timers = timers(transport, terms);
      return timers == null
          ? connecting
          : connecting.timeout(terms.connectTimeout(),
              Mono.error(() -> new ConnectTimeoutException(peer, terms.connectTimeout())), timers);
    });
  }

  /// Timers of the limits of a connection; null for no limits.
  public static @Nullable Scheduler timers(ClientTransport transport, LinkTerms terms) {
    return transport instanceof TimedTransport timed ? timed.timers() : terms.timers();
  }

  /// The same connection, whose peer has told its name.
  public NodeConnection named(String name) {
    return new NodeConnection(rsocket, transport, name);
  }

  /// The clock of a stream.
  ///
  /// @param all counts the bytes of all streams
  /// @param trace that the stream belongs to; null for none
  public StreamClock clock(String route, boolean isOutgoing, Carried all, @Nullable TraceContext trace) {
    return StreamClock.of(transport.streams(), route, peer, transport.word(), isOutgoing, all, trace);
  }

  /// One message for one reply, sent again by each subscription, and again if the node's rate refuses it.
  public <T> Mono<T> ask(String route, Object message, Class<T> reply) {
    return ask(route, message, reply, () -> true);
  }

  /// The first message of this connection for its reply.
  public <T> Mono<T> ask(FirstMessage message, Class<T> reply) {
    return asked(message.route(), message::payload, reply, () -> true);
  }

  /// @param owed whether the node owes the answer; false as long as the caller wants it to wait
  public <T> Mono<T> ask(String route, Object message, Class<T> reply, BooleanSupplier owed) {
    return asked(route, () -> request(route, message), reply, owed);
  }

  private <T> Mono<T> asked(String route, Supplier<Payload> request, Class<T> reply, BooleanSupplier owed) {
    return transport.turns().retried(new Ask<>(this, route, request, reply, owed));
  }

  /// A message without an answer. A connection that is lost needs none.
  public void tell(String route, Object message) {
    rsocket.fireAndForget(request(route, message)).onErrorComplete().subscribe();
  }

  /// Errors of the connection in the form for the caller; ends a connection that was lost.
  public Throwable failure(Throwable error) {
    Throwable told = WireErrors.fromWire(error, peer);
    if (told instanceof ConnectionLostException) {
      end();
    }
    return told;
  }

  public void end() {
    transport.end(rsocket);
  }

  /// Completes when the connection is gone, for any reason.
  public Mono<Void> onClose() {
    return rsocket.onClose().onErrorResume(error -> Mono.empty());
  }

  public static Payload request(String route, Object message) {
    return request(route, message, null);
  }

  /// @param trace that continues at the node; null for none
  public static Payload request(String route, Object message, @Nullable TraceContext trace) {
    ByteBufAllocator allocator = ByteBufAllocator.DEFAULT;
    ByteBuf data = CODEC.encode(message, allocator);
    return ByteBufPayload.create(data, RequestMetadata.write(route, trace, allocator));
  }

  /// Reads `payload`, and releases it.
  public static <T> T read(Payload payload, Class<T> type) {
    try {
      return CODEC.decode(payload.sliceData(), type);
    } finally {
      payload.release();
    }
  }
}
