package io.penstock.wire;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.block.session.SessionUse;
import io.penstock.check.Checks;
import io.penstock.flow.EngineRows;
import io.penstock.flow.LoadPrefix;
import io.penstock.flow.OffloadPrefix;
import io.penstock.flow.ProducingSource;
import io.penstock.flow.SessionTier;
import io.penstock.operator.Failures;
import io.penstock.operator.Handover;
import io.penstock.operator.LiveTimers;
import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.cluster.tier.ClusterTier;
import io.penstock.wire.cluster.tier.Spread;
import io.penstock.wire.transport.ConnectionListener;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// A node as an engine uses it: it loads the KV cache of a prompt, and offloads what the node lacks. It makes and ends
/// its own event loop, memory and budget. [KvClient] is the same client with every part chosen by its user.
///
/// When the connection is lost, for instance by a restart of the node, calls under way end with
/// `ConnectionLostException`, which is transient. The next call, or the next subscription to an earlier one, connects
/// again with the same options and within the same limit of time. There is no attempt without a call.
///
/// Safe from any thread; calls run side by side.
public final class PenstockClient {
  private static final int MAX_WAITERS = 1024;
  private static final Duration LOOPS_TIMEOUT = Duration.ofSeconds(5);

  private final Parts parts;
  private final CacheSpace space;
  private final BlockTier connection;
  private final BlockTier tier;
  private final ProducingSource source;
  private final @Nullable SessionUse session;
  private final Duration pendingWait;

  private PenstockClient(Parts parts, CacheSpace space, BlockTier connection, ProducingSource source,
      @Nullable SessionUse session, Duration pendingWait) {
    this.parts = parts;
    this.space = space;
    this.connection = connection;
    this.tier = session == null ? connection : SessionTier.of(connection, session);
    this.source = source;
    this.session = session;
    this.pendingWait = pendingWait;
  }

  /// Connects to a node, see [Options#of].
  ///
  /// @param node as `host:port`, `unix:path` or `ws://host:port/penstock`
  /// @param space of the blocks; the node refuses another, naming the field that differs
  public static Mono<PenstockClient> connect(String node, CacheSpace space) {
    return connect(node, Options.of(space));
  }

  /// Connects to a node, over its Unix domain socket if that is on this host.
  ///
  /// @return a cold `Mono`; each subscription connects; signals what [KvClient#connect] signals
  /// @throws IllegalArgumentException if `node` is no address
  public static Mono<PenstockClient> connect(String node, Options options) {
    Endpoint place = Endpoint.parse(node);
    requireNonNull(options, "options");
    return Mono.defer(() -> {
      Parts parts = Parts.of(options);
      Mono<KvClient> connection = Mono.defer(() -> Failures.signalled(() -> parts.connect(place, options)));
      Mono<PenstockClient> connecting = connection
          .map(client -> new PenstockClient(parts, options.space,
              new ReconnectingTier(client, connection, options.space),
              ProducingSource.shared(parts.offloads, SliceShape.Order.LAYER_FIRST), null, Duration.ZERO))
          .onErrorResume(error -> parts.close().then(Mono.error(error)))
          .doOnCancel(() -> parts.close().subscribe());
      return Handover.of(connecting, late -> late.close().subscribe());
    });
  }

  /// Connects to a cluster of nodes, which are one tier: each block comes straight from a node that has it.
  ///
  /// A load does not wait for blocks that are being written. A node that goes is passed over; see [ClusterTier].
  ///
  /// @param seeds any nodes of the cluster, as for [#connect(String, Options)]; names are looked up at each connection
  /// @param place of this process, such as `zone1/rack7/host3`: of equal copies the nearest is read, and new blocks go
  ///     near; empty if unknown
  /// @return a cold `Mono`; each subscription connects; signals
  ///     [io.penstock.wire.cluster.tier.UnreachableException] if no seed answers, and what [KvClient#members] signals
  /// @throws IllegalArgumentException if a seed is no address, or there is none
  public static Mono<PenstockClient> connectCluster(List<String> seeds, String place, Options options) {
    List<Endpoint> places = seeds.stream().map(Endpoint::parse).toList();
    if (places.isEmpty()) {
      throw new IllegalArgumentException("seeds must be > 0 (was none)");
    }
    requireNonNull(place, "place");
    return Mono.defer(() -> {
      Parts parts = Parts.of(options);
      Mono<PenstockClient> connecting = ClusterTier
          .connect(places, node -> Mono.defer(() -> Failures.signalled(() -> parts.connect(node, options))),
              options.space, place, parts.timers, parts.work, new SplittableRandom(),
              options.spread)
          .map(tier -> new PenstockClient(parts, options.space, tier,
              ProducingSource.shared(parts.offloads, SliceShape.Order.LAYER_FIRST), null, Duration.ZERO))
          .onErrorResume(error -> parts.close().then(Mono.error(error)))
          .doOnCancel(() -> parts.close().subscribe());
      return Handover.of(connecting, late -> late.close().subscribe());
    });
  }

  /// This client for the requests of one session: what they load and offload belongs to it, so the node prefers to keep
  /// it between the turns. Both are one client: they share connection and memory, and the close of one closes both.
  ///
  /// @param use null for requests of no session
  /// @param wait how long a load waits for blocks right behind the prefix that are still being put: the next turn of a
  ///     conversation often asks before the last one is stored. The node has a limit of its own. 0 for no wait, which
  ///     saves a round trip
  public PenstockClient inSession(@Nullable SessionUse use, Duration wait) {
    return new PenstockClient(parts, space, connection, source, use, Checks.notNegative("wait", wait));
  }

  /// Loads the KV cache of the longest prefix of `tokens` that the node has.
  ///
  /// @param rows where it goes; called on the client's event loop
  /// @return number of tokens, from the first one on, whose rows are all written; cold
  public Mono<Integer> load(int[] tokens, EngineRows rows) {
    return load(space.keys(tokens), rows).map(blocks -> blocks * space.layout().tokens());
  }

  /// Loads the longest prefix of `keys` that the node has.
  ///
  /// @return number of blocks, from the first one on, whose rows are all written; cold
  public Mono<Integer> load(List<BlockKey> keys, EngineRows rows) {
    return pendingWait.isZero() || keys.isEmpty() || !(connection instanceof ReconnectingTier node)
        ? LoadPrefix.rows(tier, keys, SliceShape.defaults(), rows)
        : node.matched(keys, session, pendingWait).flatMap(matched -> matched.prefix() == 0
            ? Mono.just(0)
            : LoadPrefix.rows(tier, keys.subList(0, matched.prefix()), SliceShape.defaults(), rows));
  }

  /// Offloads the KV cache of the whole blocks of `tokens` that the node lacks.
  ///
  /// @param rows where it is; read on the client's event loop, until the answer
  /// @return number of blocks that the node stored; cold
  public Mono<Long> offload(int[] tokens, EngineRows rows) {
    return offload(space.keys(tokens), rows);
  }

  /// Offloads the blocks of `keys` that the node lacks.
  ///
  /// @return number of blocks that the node stored; cold
  public Mono<Long> offload(List<BlockKey> keys, EngineRows rows) {
    return OffloadPrefix.rows(tier, keys, SliceShape.defaults(), source, rows).count();
  }

  /// The node, for all that a tier can do. It connects again as the client does; a stream of its events ends with its
  /// connection.
  public BlockTier tier() {
    return tier;
  }

  /// Drops the connection, and frees all that the client made; lazy and idempotent.
  public Mono<Void> close() {
    return connection.close().then(parts.close());
  }

  /// *client of node penstock, arena loads: 0 of 128 slots lent, …*.
  @Override
  public String toString() {
    return "client of " + tier.info().name() + ", " + parts.loads + ", " + parts.offloads + ", " + parts.budget;
  }

  /// What a client makes for itself.
  ///
  /// @param work has no thread before the events of a cluster need one
  private record Parts(SlabArena loads, SlabArena offloads, ByteBudget budget, LoopResources loops, Scheduler timers,
      Scheduler work) {
    static Parts of(Options options) {
      SlabArena loads = new SlabArena("loads", options.space.layout(), options.loadBlocks, MAX_WAITERS);
      SlabArena offloads = new SlabArena("offloads", options.space.layout(), options.offloadBlocks, MAX_WAITERS);
      ByteBudget budget = new ByteBudget("client", options.inFlightBytes, MAX_WAITERS);
      if (options.meters != null) {
        options.meters.meters().bind("loads", loads).bind("offloads", offloads).bind(budget);
      }
      return new Parts(loads, offloads, budget, LoopResources.create("penstock-client", 1, true),
          LiveTimers.of(Schedulers.newSingle("penstock-client-timers", true)),
          Schedulers.newSingle("penstock-client-events", true));
    }

    Mono<KvClient> connect(Endpoint node, Options options) {
      MeteredWire wire = options.meters;
      ConnectionListener listener = wire == null ? ConnectionListener.noop() : wire;
      KvClientOptions connection = wire == null
          ? options.connection
          : options.connection.withStreams(new BothStreams(options.connection.streams(), wire));
      return KvClient.connectBest(node,
          place -> TcpTransport.client(place, TcpClientOptions.to(place.address()), loops, listener), connection,
          options.space, loads, budget).map(KvClient.Reached::client);
    }

    Mono<Void> close() {
      return Mono.fromRunnable(() -> {
        loads.close();
        offloads.close();
        timers.dispose();
        work.dispose();
      }).then(loops.disposeLater(Duration.ZERO, LOOPS_TIMEOUT));
    }
  }

  /// How a client connects.
  ///
  /// @param space of its blocks
  /// @param loadBlocks memory for blocks that arrive; at least one window
  /// @param offloadBlocks memory for blocks that are sent; at least one window
  /// @param inFlightBytes most bytes on their way to the client
  /// @param connection all other settings
  /// @param meters that show the client; null for none
  /// @param spread of new blocks over the members of a cluster; means nothing to a single node
  public record Options(CacheSpace space, int loadBlocks, int offloadBlocks, long inFlightBytes,
      KvClientOptions connection, @Nullable MeteredWire meters, Spread spread) {
    private static final long WINDOW_BYTES = 64 << 20;
    /// Streams that have full credit, and windows that have memory, at one time.
    private static final int STREAMS = 2;

    public Options {
      requireNonNull(space, "space");
      requireNonNull(connection, "connection");
      requireNonNull(spread, "spread");
      if (loadBlocks < connection.windowBlocks() || offloadBlocks < connection.windowBlocks()) {
        throw new IllegalArgumentException("loadBlocks and offloadBlocks must be >= a window of "
            + connection.windowBlocks() + " blocks (was " + loadBlocks + ", " + offloadBlocks + ")");
      }
      Checks.positive("inFlightBytes", inFlightBytes);
    }

    /// Windows of as many blocks as 64 MiB hold, from 1 to 64; memory for two windows that arrive and two that are
    /// sent, allocated when first used; as many bytes in flight as two streams with full credit have (16 MiB); else the
    /// defaults of [KvClientOptions].
    public static Options of(CacheSpace space) {
      int window = Math.clamp(WINDOW_BYTES / space.layout().blockBytes(), 1, 64);
      KvClientOptions connection = KvClientOptions.builder().windowBlocks(window).build();
      return new Options(space, STREAMS * window, STREAMS * window,
          (long) STREAMS * connection.creditSlices() * connection.maxSliceBytes(), connection, null,
          Spread.defaults());
    }

    public Options withMemory(int newLoadBlocks, int newOffloadBlocks) {
      return new Options(space, newLoadBlocks, newOffloadBlocks, inFlightBytes, connection, meters, spread);
    }

    public Options withInFlightBytes(long bytes) {
      return new Options(space, loadBlocks, offloadBlocks, bytes, connection, meters, spread);
    }

    public Options withConnection(KvClientOptions options) {
      return new Options(space, loadBlocks, offloadBlocks, inFlightBytes, options, meters, spread);
    }

    /// How new blocks are spread over the members of a cluster, such as the number of their copies.
    public Options withSpread(Spread newSpread) {
      return new Options(space, loadBlocks, offloadBlocks, inFlightBytes, connection, meters, newSpread);
    }

    /// Shows memory, bytes in flight, streams and connections of the client in the registry of `wire`. Use one object
    /// for all clients of a process. In a process with a node, give the client another registry: the meters of streams
    /// and connections have the same names at both ends, and would count both.
    public Options withMeters(MeteredWire wire) {
      return new Options(space, loadBlocks, offloadBlocks, inFlightBytes, connection, requireNonNull(wire, "wire"),
          spread);
    }
  }
}
