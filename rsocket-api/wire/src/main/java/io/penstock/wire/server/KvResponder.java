package io.penstock.wire.server;

import io.penstock.operator.Failures;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.security.Caller;
import io.penstock.wire.server.call.Call;
import io.penstock.wire.server.call.QuickAnswer;
import io.penstock.wire.server.call.Request;
import io.penstock.wire.server.call.Requests;
import io.penstock.wire.server.route.RouteGroups;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import java.net.SocketAddress;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// One connection as the server sees it: [Requests] runs what comes, [RouteGroups] says what serves it, and
/// [ServedConnection] gives back what it held.
final class KvResponder implements RSocket {
  private final @Nullable Caller caller;
  private final ServedConnection connection;
  private final Requests requests;
  private final RouteGroups groups;

  /// @param dataMimeType of messages that name no other
  /// @param address of the peer, whose connections share
  /// @param remote where the peer is, if its connection tells
  /// @param caller null for a peer that may do everything
  /// @param process of the peer, as in [io.penstock.wire.transport.ConnectionGauges#peerProcess]
  KvResponder(Serving serving, String dataMimeType, Object address, @Nullable SocketAddress remote,
      @Nullable Caller caller, long process) {
    this.caller = caller;
    this.connection = new ServedConnection(serving, address, caller, process);
    this.requests = connection.requests(dataMimeType);
    this.groups = connection.groups(remote);
  }

  /// Ends what the caller has lost the right to. False if the caller is no user any more, and so must go.
  boolean review() {
    if (caller != null && !caller.isKnown()) {
      return false;
    }
    connection.review();
    return true;
  }

  @Override
  public Mono<Payload> requestResponse(Payload payload) {
    return Request.isHeavy(payload)
        ? answered(payload)
        : new QuickAnswer(payload, this::atOnce, () -> answered(payload));
  }

  private @Nullable Callable<Payload> atOnce(Payload payload) {
    Call call = requests.read(payload);
    Callable<Payload> answer = groups.atOnce(call);
    if (answer != null) { // else the longer way counts it
      requests.admitted(call);
    }
    return answer;
  }

  private Mono<Payload> answered(Payload payload) {
    return requests.isFor(Routes.GET, payload)
        ? Mono.fromDirect(requests.streamed(payload, groups::answeredByGet))
        : requests.answered(payload, groups::answered);
  }

  /// The one message that has no answer.
  @Override
  public Mono<Void> fireAndForget(Payload payload) {
    return Mono.fromRunnable(() -> {
      try {
        if (Request.isHeavy(payload)) {
          throw new WireFormatException(ErrorCode.LIMIT_EXCEEDED, "message", "short if it has no answer", "longer");
        }
        groups.told(requests.read(payload));
      } catch (Error e) { // the message has no answer: its sender learns nothing
        throw Failures.unchecked(e);
      } finally {
        payload.release();
      }
    });
  }

  @Override
  public Flux<Payload> requestStream(Payload payload) {
    return requests.streamed(payload, groups::streamed);
  }

  @Override
  public Flux<Payload> requestChannel(Publisher<Payload> payloads) {
    return requests.opened(payloads, groups::opened);
  }

  /// The connection is gone.
  @Override
  public void dispose() {
    requests.close();
    connection.close();
  }
}
