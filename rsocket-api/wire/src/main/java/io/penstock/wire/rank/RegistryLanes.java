package io.penstock.wire.rank;

import io.penstock.TransientKvException;
import io.penstock.operator.Serial;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.KvPeerOptions;
import io.penstock.wire.client.Lane;
import io.penstock.wire.client.link.NodeConnection;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.WireFailure.AnswerTimeoutException;
import io.penstock.wire.protocol.WireFailure.ConnectTimeoutException;
import io.penstock.wire.protocol.WireFailure.ConnectionLostException;
import io.penstock.wire.protocol.WireFailure.DrainingException;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.protocol.WireFailure.RemoteTransientException;
import io.rsocket.transport.ClientTransport;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/// Connections to registries that are one: any of them answers for all. Work goes to the one that answered last; if
/// that one is away, at once to the next. Safe from any thread.
final class RegistryLanes {
  /// Patience with a registry while there is another one to ask. The last one has all the time that connections have.
  private static final Duration HURRY = Duration.ofMillis(700);

  private final List<Lane<NodeConnection>> lanes;
  private final Scheduler timers;
  private final AtomicInteger current = new AtomicInteger();
  private final Sinks.Many<Boolean> losses = Sinks.many().multicast().directBestEffort();
  private final Serial serial = new Serial();

  /// @param transports to the registries, the preferred one first
  RegistryLanes(List<ClientTransport> transports, KvClientOptions options, KvPeerOptions connections,
      Scheduler timers, RandomGenerator random) {
    if (transports.isEmpty()) {
      throw new IllegalArgumentException("registries must be at least one (was none)");
    }
    this.timers = timers;
    this.lanes = transports.stream().map(transport -> lane(transport, "the registry", options, connections, timers,
        random, this::lost)).toList();
  }

  /// A connection to a peer.
  ///
  /// @param lost runs when a connection that was open is gone
  static Lane<NodeConnection> lane(ClientTransport transport, String peer, KvClientOptions options,
      KvPeerOptions connections, Scheduler timers, RandomGenerator random, Runnable lost) {
    Mono<NodeConnection> open = NodeConnection
        .limited(NodeConnection.open(transport, options.link(), peer), transport, options.link(), peer)
        .doOnNext(connection -> connection.onClose().subscribe(nothing -> {}, failed -> {}, lost::run));
    return new Lane<>(new Lane.Link<>(open, NodeConnection::onClose,
        connection -> Mono.fromRunnable(connection::end)), connections, timers, random);
  }

  private void lost() {
    serial.run(() -> {
      Sinks.EmitResult _ = losses.tryEmitNext(true); // no rank may be kept registered
    });
  }

  /// Emits when a connection is gone, or a registry is away, and another one is asked.
  Flux<Boolean> losses() {
    return lanes.size() == 1 ? Flux.never() : losses.asFlux().onBackpressureDrop();
  }

  /// Does work that may be done twice: a registry that does not answer may have done it.
  <T> Mono<T> with(Function<NodeConnection, Mono<T>> work) {
    return Mono.defer(() -> attempt(work, current.get(), lanes.size() - 1));
  }

  private <T> Mono<T> attempt(Function<NodeConnection, Mono<T>> work, int at, int others) {
    Mono<T> one = lanes.get(at).with(work).next();
    if (others == 0) {
      return one;
    }
    Mono<T> next = Mono.defer(() -> {
      int after = (at + 1) % lanes.size();
      if (current.compareAndSet(at, after)) {
        lost();
      }
      return attempt(work, after, others - 1);
    });
    return one.timeout(HURRY, Mono.error(SilentException::new), timers).onErrorResume(RegistryLanes::isAway,
        away -> next);
  }

  private static boolean isAway(Throwable failure) {
    return switch (failure) {
      case ConnectionLostException lost -> true;
      case ConnectTimeoutException late -> true;
      case AnswerTimeoutException late -> true;
      case DrainingException ends -> true;
      case SilentException silent -> true;
      case RemoteTransientException other -> other.code() == ErrorCode.TRANSIENT.code();
      case RemotePermanentException other -> other.code() == ErrorCode.UNKNOWN_ROUTE.code();
      default -> false;
    };
  }

  /// A registry has not answered in time for another one to be asked.
  private static final class SilentException extends TransientKvException {
    SilentException() {
      super("registry must answer within " + HURRY + " (did not)");
    }
  }

  /// Ends the connections; work that runs fails. Lazy and idempotent.
  Mono<Void> close() {
    return Flux.fromIterable(lanes).flatMap(Lane::close, Integer.MAX_VALUE, 1).then();
  }
}
