package io.penstock.node.link;

import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena;
import io.penstock.disagg.request.RequestAnswer;
import io.penstock.node.cli.RefusedException;
import io.penstock.node.cli.UnavailableException;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.text.Reason;
import io.penstock.operator.LiveTimers;
import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.KvPeerOptions;
import io.penstock.wire.client.RemoteTier;
import io.penstock.wire.client.ServerStat;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.WireFailure.ConnectionLostException;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.rank.RemoteRequests;
import io.penstock.wire.security.Access;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import io.rsocket.exceptions.RejectedSetupException;
import io.rsocket.transport.ClientTransport;
import java.time.Duration;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// A link over the wire, with an arena of two windows and an event loop of its own.
final class WireLink implements NodeLink {
  private static final Duration GOODBYE = Duration.ofSeconds(2);

  private final NodeAddress address;
  private final LoopResources loops;
  private final SlabArena arena;
  private final KvClient client;
  private final RemoteTier tier;
  private final StreamTimes times;
  private final Supplier<RemoteRequests> rank;

  private WireLink(NodeAddress address, LoopResources loops, SlabArena arena, KvClient client, RemoteTier tier,
      StreamTimes times, Supplier<RemoteRequests> rank) {
    this.address = address;
    this.rank = rank;
    this.times = times;
    this.loops = loops;
    this.arena = arena;
    this.client = client;
    this.tier = tier;
  }

  static NodeLink dial(NodeAddress address, NodeConfig config, Duration patience) {
    return dial(address, config, config.space(), patience);
  }

  /// @param config of which slice and window sizes count
  static NodeLink dial(NodeAddress address, NodeConfig config, CacheSpace space, Duration patience) {
    int window = config.get(NodeSettings.WINDOW_BLOCKS);
    SlabArena arena = new SlabArena("client", space.layout(), 2 * window, 16);
    LoopResources loops = LoopResources.create("penstock-client", 1, true);
    try {
      TcpClientOptions there =
          address.pass().with(TcpClientOptions.to(address.place().address()).withConnectTimeout(patience));
      Function<Endpoint, ClientTransport> transports =
          place -> TcpTransport.client(place, there, loops, address.listener());
      StreamTimes times = new StreamTimes();
      KvClientOptions options = options(address).streams(times)
          .maxSliceBytes(config.get(NodeSettings.SLICE_BYTES)).windowBlocks(window).build();
      ByteBudget budget = new ByteBudget("client", config.get(NodeSettings.BUDGET), 64);
      KvClient client = Answers.of(address.isBest()
          ? KvClient.connectBest(address.place(), transports, options, space, arena, budget).flatMap(
              best -> required(address, best))
          : KvClient.connect(transports.apply(address.place()), options, space, arena, budget), patience);
      return new WireLink(address, loops, arena, client, new RemoteTier(client, space), times,
          () -> RemoteRequests.of(transports.apply(address.place()), options(address).build(),
              KvPeerOptions.defaults(), LiveTimers.of(Schedulers.single()), RandomGenerator.getDefault()));
    } catch (RuntimeException e) {
      arena.close();
      loops.dispose();
      throw e instanceof ConnectionLostException lost ? unavailable(address, lost) : e;
    }
  }

  private static Mono<KvClient> required(NodeAddress address, KvClient.Reached best) {
    return Mono.fromRunnable(() -> address.require(best.place())).thenReturn(best.client())
        .onErrorResume(wrong -> best.client().close().then(Mono.error(wrong)));
  }

  static KvClientOptions.Builder options(NodeAddress address) {
    return address.pass().with(KvClientOptions.builder().name("penstock-cli"));
  }

  static RuntimeException unavailable(NodeAddress address, ConnectionLostException lost) {
    if (lost.getCause() instanceof RejectedSetupException refusal && Access.isRefusal(refusal)) {
      return new RefusedException("the node at %s refused the connection (%s)".formatted(address, Reason.of(refusal)),
          lost);
    }
    String what = lost.getCause() instanceof RejectedSetupException
        ? "the node at " + address + " refused the connection"
        : "no node is listening at " + address;
    return new UnavailableException(what + " (" + Reason.ofCause(lost) + ")", lost);
  }

  static void end(LoopResources loops) {
    loops.disposeLater(Duration.ZERO, GOODBYE).block(GOODBYE);
  }

  @Override
  public BlockTier tier() {
    return tier;
  }

  @Override
  public Mono<ServerStat> stat() {
    return client.stat();
  }

  @Override
  public Mono<RequestAnswer> requests(Function<RemoteRequests, Mono<RequestAnswer>> work) {
    return Mono.usingWhen(Mono.fromSupplier(rank), work, RemoteRequests::close)
        .onErrorMap(ConnectionLostException.class, lost -> unavailable(address, lost))
        .onErrorMap(WireLink::isUnknownRoute, unknown -> new UnavailableException(
            "rank.side must be prefill in the settings of the node at " + address
                + ", as serve --rank-side prefill sets it (was not)",
            unknown));
  }

  static boolean isUnknownRoute(Throwable error) {
    return error instanceof RemotePermanentException remote && remote.code() == ErrorCode.UNKNOWN_ROUTE.code();
  }

  @Override
  public Carriage carriage() {
    return Carriage.of(client.transport(), client.carried(), times);
  }

  @Override
  public void close() {
    client.close().block(GOODBYE);
    arena.close();
    end(loops);
  }
}
