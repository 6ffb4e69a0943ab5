package io.penstock.wire.client;

import static java.util.Objects.requireNonNull;

import io.penstock.PenstockVersion;
import io.penstock.block.BlockArena;
import io.penstock.block.CacheSpace;
import io.penstock.carrier.ClientRing;
import io.penstock.carrier.SharedMemoryReceiver;
import io.penstock.operator.Handover;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.client.get.RingThread;
import io.penstock.wire.client.link.ClientCarriers;
import io.penstock.wire.client.link.FirstMessage;
import io.penstock.wire.client.link.LinkTerms;
import io.penstock.wire.client.link.NodeConnection;
import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.protocol.Handshake;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.RingMessages;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.StatMessages;
import io.penstock.wire.transport.AdvertisedEndpoints;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.TransportKind;
import io.rsocket.transport.ClientTransport;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Connects clients: a connection, then `hello`, then a read ring where the options wish one.
///
/// @param arena where fetched blocks land
/// @param budget limits the bytes in flight towards the arena
record ClientConnector(KvClientOptions options, CacheSpace space, BlockArena arena, ByteBudget budget) {
  ClientConnector {
    if (!arena.layout().equals(space.layout())) {
      throw new IllegalArgumentException("arena must have the layout of the space (was " + arena.layout() + ")");
    }
    new Limits(options.maxSliceBytes(), 1, 1).requireFits(space.layout());
    if (budget.capacityBytes() < options.maxSliceBytes()) {
      throw new IllegalArgumentException(
          "budget must be >= maxSliceBytes " + options.maxSliceBytes() + " (was " + budget.capacityBytes() + ")");
    }
  }

  Mono<KvClient> connect(ClientTransport transport) {
    return connect(transport, options.link());
  }

  private Mono<KvClient> connect(ClientTransport transport, LinkTerms terms) {
    requireNonNull(transport, "transport");
    Mono<KvClient> connecting = FirstMessage.encoded(Routes.HELLO, hello(null),
        first -> NodeConnection.open(transport, terms, "the node")
            .flatMap(connection -> agreed(connection, offering(connection, first))
                .map(welcome -> new KvClient(connection.named("node " + welcome.node()), this, welcome))
                .flatMap(this::withRing)
                .doOnError(error -> connection.end()).doOnCancel(connection::end)));
    return Handover.of(NodeConnection.limited(connecting, transport, terms, "the node"),
        late -> late.connection().end());
  }

  private Mono<Handshake.Welcome> agreed(NodeConnection connection, FirstMessage hello) {
    return connection.ask(hello, Handshake.Welcome.class).doOnNext(welcome -> welcome.requireFits(space));
  }

  private Handshake.Hello hello(@Nullable List<Handshake.CarrierOffer> carriers) {
    return hello(options, Handshake.Space.of(space), carriers);
  }

  /// Offers shared memory if the connection is one for it, which is known only now.
  private FirstMessage offering(NodeConnection connection, FirstMessage plain) {
    List<Handshake.CarrierOffer> offers =
        ClientCarriers.offers(options.carriers(), connection.transport().peerProcess());
    return offers == null ? plain : FirstMessage.of(Routes.HELLO, hello(offers));
  }

  private static Handshake.Hello hello(KvClientOptions options, Handshake.@Nullable Space space,
      @Nullable List<Handshake.CarrierOffer> carriers) {
    return new Handshake.Hello(List.of(Routes.VERSION), space, options.name() + " " + PenstockVersion.current(),
        carriers);
  }

  /// Opens the read ring that the options wish, if there is shared memory.
  private Mono<KvClient> withRing(KvClient client) {
    Duration spin = options.ringSpin();
    byte[] proof = client.carriers().proof();
    SharedMemoryReceiver memory = client.carriers().receiver();
    if (spin == null || proof == null || memory == null) {
      return Mono.just(client);
    }
    return Mono.defer(() -> {
      ClientRing ring = ClientRing.create(arena.layout(), memory, spin, RingThread::new);
      RingMessages.RingRequest request = RingMessages.RingRequest.of(space.id(), proof, ring.place(), spin);
      return client.connection().ask(Routes.RING, request, RingMessages.RingReply.class)
          .map(answers -> {
            ring.start(answers.place());
            client.carriers().ringIs(ring);
            return client;
          }).doOnError(error -> ring.close()).doOnCancel(ring::close);
    }).onErrorResume(error -> options.carriers().contains(Carrier.INLINE), refused -> Mono.just(client));
  }

  /// Connects to `node`, and goes on over its Unix domain socket if that is on this host, within one limit of time.
  Mono<KvClient.Reached> connectBest(Endpoint node, Function<Endpoint, ClientTransport> transports) {
    ClientTransport transport = transports.apply(node);
    Mono<KvClient.Reached> best = Mono.defer(() -> {
      Deadline deadline = new Deadline(NodeConnection.timers(transport, options.link()), options.connectTimeout());
      return connect(transport).map(client -> new KvClient.Reached(client, node))
          .flatMap(first -> nearer(first).map(socket -> switched(first, socket, transports, deadline))
              .orElseGet(() -> Mono.just(first)));
    });
    return Handover.of(best, late -> late.client().connection().end());
  }

  /// The node over `socket`, if it answers there in time; else `first`.
  private Mono<KvClient.Reached> switched(KvClient.Reached first, Endpoint socket,
      Function<Endpoint, ClientTransport> transports, Deadline deadline) {
    Duration left = deadline.left();
    if (left.toMillis() < 1) {
      return Mono.just(first);
    }
    return connect(transports.apply(socket), options.link().within(left))
        .map(client -> new KvClient.Reached(client, socket)).flatMap(other -> nearer(first, other))
        .onErrorResume(notHere -> Mono.just(first)).doOnCancel(first.client().connection()::end);
  }

  /// A limit of time from now on.
  private record Deadline(@Nullable Scheduler timers, Duration limit, long beganMillis) {
    Deadline(@Nullable Scheduler timers, Duration limit) {
      this(timers, limit, timers == null ? 0 : timers.now(TimeUnit.MILLISECONDS));
    }

    /// What is left of it; all of it without timers.
    Duration left() {
      return timers == null ? limit : limit.minusMillis(timers.now(TimeUnit.MILLISECONDS) - beganMillis);
    }
  }

  /// A socket of this host at which the node may be, if it was reached in another way.
  private static Optional<Endpoint> nearer(KvClient.Reached reached) {
    String host = reached.client().host();
    boolean sameHost = host != null && AdvertisedEndpoints.hostToken().filter(host::equals).isPresent();
    return reached.place().transport() == TransportKind.TCP && sameHost
        ? reached.client().endpoints().stream().filter(place -> place.transport() == TransportKind.UDS).findFirst()
        : Optional.empty();
  }

  /// The second one, if the same node is behind it, else the first; the other one is closed.
  private static Mono<KvClient.Reached> nearer(KvClient.Reached first, KvClient.Reached second) {
    long generation = first.client().generation();
    boolean same = generation != 0 && generation == second.client().generation();
    Mono<KvClient.Reached> one =
        same ? first.client().close().thenReturn(second) : second.client().close().thenReturn(first);
    return one.doOnCancel(second.client().connection()::end); // the caller ends the first
  }

  /// Figures of a node, over a connection of its own that names no space.
  static Mono<ServerStat> statOf(ClientTransport transport, KvClientOptions options) {
    return askedOf(transport, options,
        connection -> connection.ask(Routes.STAT, new Messages.StatRequest(), StatMessages.StatReply.class)
            .map(ServerStat::of));
  }

  /// Asks one question of a node, over a connection of its own that names no space.
  static <T> Mono<T> askedOf(ClientTransport transport, KvClientOptions options,
      Function<NodeConnection, Mono<T>> question) {
    Mono<T> answer = FirstMessage.encoded(Routes.HELLO, hello(options, null, null),
        first -> NodeConnection.open(transport, options.link(), "the node")
            .flatMap(connection -> connection.ask(first, Handshake.Welcome.class)
                .doOnNext(Handshake.Welcome::requireVersion).then(question.apply(connection))
                .doFinally(end -> connection.end())));
    return NodeConnection.limited(answer, transport, options.link(), "the node");
  }
}
