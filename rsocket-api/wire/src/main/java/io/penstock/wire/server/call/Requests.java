package io.penstock.wire.server.call;

import io.netty.buffer.ByteBufAllocator;
import io.penstock.operator.Failures;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.credit.ConnectionRate;
import io.penstock.wire.protocol.RequestMetadata;
import io.penstock.wire.protocol.WireErrors;
import io.rsocket.Payload;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.CoreSubscriber;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;

/// Runs the requests of one connection of a node. It charges and reads their messages, counts them for the rate, lets
/// heavy ones wait for their turn, and cancels those that run when the connection is gone. It turns each failure into
/// an error of the wire.
public final class Requests {
  private final String dataMimeType;
  private final ByteBufAllocator allocator;
  private final Budget messages;
  private final ConnectionRate rate;
  private final Scheduler turns;
  /// Requests that are charged.
  private final Set<Request> running = ConcurrentHashMap.newKeySet();
  private final ServedStream.Streams streams;

  /// @param dataMimeType of messages that name no other
  /// @param messages pays for the messages of running requests
  /// @param turns runs heavy requests, in turns with other connections
  /// @param held ends streams whose right is lost
  public Requests(String dataMimeType, ByteBufAllocator allocator, Budget messages, ConnectionRate rate,
      Scheduler turns, HeldRights held) {
    this.streams = new ServedStream.Streams(Disposables.composite(), held);
    this.dataMimeType = dataMimeType;
    this.allocator = allocator;
    this.messages = messages;
    this.rate = rate;
    this.turns = turns;
  }

  /// Reads a message, which stays the caller's, without a charge.
  public Call read(Payload payload) {
    return Call.read(payload, dataMimeType, allocator, new RequestRights());
  }

  /// Whether `payload` is a request for `route`; false if it cannot be read, which its reader says.
  public boolean isFor(String route, Payload payload) {
    return RequestMetadata.isFor(route, payload.sliceMetadata());
  }

  /// Counts `call` for the rate.
  public Call admitted(Call call) {
    rate.admit(call.route());
    return call;
  }

  /// One answer.
  public Mono<Payload> answered(Payload payload, Function<Call, Mono<Payload>> route) {
    return Mono.using(() -> charged(payload, new RequestRights()), request -> {
      Mono<Payload> answer = Mono.defer(() -> routed(request, route));
      return request.isHeavy() ? answer.subscribeOn(turns) : answer;
    }).onErrorMap(WireErrors::toWire);
  }

  /// A stream of answers.
  public Flux<Payload> streamed(Payload payload, Function<Call, Flux<Payload>> route) {
    return ServedStream.of(rights -> charged(payload, rights), request -> request.isHeavy()
        ? Flux.defer(() -> routed(request, route)).subscribeOn(turns, false)
        : routed(request, route), streams);
  }

  /// What the receiver of a channel is made of.
  public interface Opening {
    /// @param request ends with the channel
    /// @param out hears the answers
    CoreSubscriber<Payload> open(Call call, Request request, CoreSubscriber<? super Payload> out);
  }

  /// A channel, whose first payload is its request.
  ///
  /// Cancelled when the connection is gone. What it sends at that moment still reaches RSocket, which releases it.
  public Flux<Payload> opened(Publisher<Payload> payloads, Opening opening) {
    BiFunction<Request, CoreSubscriber<? super Payload>, CoreSubscriber<Payload>> first =
        (request, out) -> routed(request, call -> opening.open(call, request, out));
    return ServedStream.channel(rights -> subscriber -> payloads.subscribe(
        new PutOpening(Operators.toCoreSubscriber(subscriber), payload -> charged(payload, rights), first, turns)),
        streams);
  }

  private Request charged(Payload payload, RequestRights rights) {
    try {
      return Request.charged(payload, messages, running, rights);
    } catch (Error e) {
      throw Failures.unchecked(e);
    }
  }

  private <T> T routed(Request request, Function<Call, T> route) {
    try {
      return request.route(dataMimeType, allocator, call -> route.apply(admitted(call)));
    } catch (Error e) { // ends this request, not the connection
      throw Failures.unchecked(e);
    }
  }

  /// Cancels every stream, also one that RSocket lost sight of after a damaged frame.
  public void close() {
    streams.open().dispose();
    running.forEach(Request::close);
  }
}
