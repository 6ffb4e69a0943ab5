package io.penstock.wire;

import static java.util.Objects.requireNonNull;

import io.penstock.block.CacheSpace;
import io.penstock.block.EvictionPolicy;
import io.penstock.check.Checks;
import io.penstock.operator.Failures;
import io.penstock.operator.Handover;
import io.penstock.operator.LiveTimers;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.Medium;
import io.penstock.tier.TierListener;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.tcp.TcpListener;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// A node in this process: blocks of one space in host memory, served over TCP. It makes and ends its own event loops,
/// timers, memory and budget. [KvServer] is the same node with every part chosen by its user.
public final class PenstockNode {
  private static final int MAX_WAITERS = 1024;
  /// Name of a [HostTier] that is told none.
  private static final String TIER = "dram";
  private static final Duration LOOPS_TIMEOUT = Duration.ofSeconds(5);

  private final Parts parts;
  private final KvServer server;

  private PenstockNode(Parts parts, KvServer server) {
    this.parts = parts;
    this.server = server;
  }

  /// Starts a node on a free port of 127.0.0.1, see [Options#of].
  ///
  /// @param blocks most blocks that it keeps
  public static Mono<PenstockNode> start(CacheSpace space, long blocks) {
    return start(Options.of(space, blocks));
  }

  /// Starts a node.
  ///
  /// @return a cold `Mono`; each subscription starts one; signals the reason if the address cannot be taken
  public static Mono<PenstockNode> start(Options options) {
    requireNonNull(options, "options");
    return Mono.defer(() -> {
      Parts parts = Parts.of(options);
      Mono<PenstockNode> starting = Failures.signalled(() -> parts.bind(options))
          .map(server -> new PenstockNode(parts, server))
          .onErrorResume(error -> parts.close().then(Mono.error(error)))
          .doOnCancel(() -> parts.close().subscribe());
      return Handover.of(starting, late -> late.close().subscribe());
    });
  }

  /// Where it listens, as `host:port`.
  public String address() {
    return Endpoint.place((InetSocketAddress) ((TcpListener) server.listening()).address());
  }

  /// Its blocks.
  public BlockTier tier() {
    return parts.tier;
  }

  /// Stops listening, drops the connections, and frees all that the node made; lazy and idempotent.
  public Mono<Void> close() {
    return server.close().then(parts.close());
  }

  /// *node 127.0.0.1:7733, budget node: 0 of 67108864 bytes in flight*.
  @Override
  public String toString() {
    return "node " + address() + ", " + parts.budget;
  }

  /// What a node makes for itself.
  private record Parts(BlockTier tier, ByteBudget budget, LoopResources loops, Scheduler timers) {
    static Parts of(Options options) {
      MeteredWire wire = options.meters;
      HostTier tier = new HostTier(options.space, options.blocks,
          StackOptions.defaults(TIER).withPolicy(options.policy),
          wire == null ? TierListener.noop() : wire.meters().listener(TIER, Medium.HOST));
      ByteBudget budget = new ByteBudget("node", options.inFlightBytes, MAX_WAITERS);
      if (wire != null) {
        wire.meters().bind(tier).bind("node", tier.arena()).bind(budget);
      }
      return new Parts(tier, budget, LoopResources.create("penstock-node", options.loops, true),
          LiveTimers.of(Schedulers.newSingle("penstock-timers", true)));
    }

    Mono<KvServer> bind(Options options) {
      TcpServerOptions place = TcpServerOptions.on(options.host, options.port);
      MeteredWire wire = options.meters;
      if (wire == null) {
        return KvServer.bind(TcpTransport.server(place, loops), tier, options.server, budget, timers);
      }
      return KvServer.bind(TcpTransport.server(place, loops, wire), tier,
          options.server.withStreams(new BothStreams(options.server.streams(), wire)), budget, timers)
          .doOnNext(wire::show);
    }

    Mono<Void> close() {
      return tier.close().then(Mono.fromRunnable(timers::dispose))
          .then(loops.disposeLater(Duration.ZERO, LOOPS_TIMEOUT));
    }
  }

  /// How a node is started.
  ///
  /// @param space of its blocks
  /// @param blocks most blocks that it keeps, in host memory
  /// @param host name or address at which it listens; it serves every peer that reaches it
  /// @param port to listen on; 0 for a free one
  /// @param inFlightBytes most bytes on their way in and out
  /// @param loops threads for its connections
  /// @param server all other settings
  /// @param meters that show the node; null for none
  /// @param policy which block is evicted first
  public record Options(CacheSpace space, long blocks, String host, int port, long inFlightBytes, int loops,
      KvServerOptions server, @Nullable MeteredWire meters, EvictionPolicy policy) {
    /// Streams that have full credit at one time.
    private static final int STREAMS = 8;
    /// Slices of a stream with full credit.
    private static final int CREDIT_SLICES = 16;

    public Options {
      requireNonNull(space, "space");
      Checks.positive("blocks", blocks);
      requireNonNull(host, "host");
      Checks.notNegative("port", port);
      Checks.positive("inFlightBytes", inFlightBytes);
      Checks.positive("loops", loops);
      requireNonNull(server, "server");
      requireNonNull(policy, "policy");
    }

    /// A free port of 127.0.0.1; as many bytes in flight as 8 streams with full credit have, of 16 slices each (64
    /// MiB); half as many loops as there are processors; else the defaults of [KvServerOptions].
    public static Options of(CacheSpace space, long blocks) {
      KvServerOptions server = KvServerOptions.defaults();
      return new Options(space, blocks, "127.0.0.1", 0,
          (long) STREAMS * CREDIT_SLICES * server.limits().maxSliceBytes(),
          Math.max(1, Runtime.getRuntime().availableProcessors() / 2), server, null,
          EvictionPolicy.LRU);
    }

    public Options withAddress(String newHost, int newPort) {
      return new Options(space, blocks, newHost, newPort, inFlightBytes, loops, server, meters, policy);
    }

    public Options withInFlightBytes(long bytes) {
      return new Options(space, blocks, host, port, bytes, loops, server, meters, policy);
    }

    public Options withLoops(int count) {
      return new Options(space, blocks, host, port, inFlightBytes, count, server, meters, policy);
    }

    public Options withServer(KvServerOptions options) {
      return new Options(space, blocks, host, port, inFlightBytes, loops, options, meters, policy);
    }

    /// Shows blocks, memory, bytes in flight, streams and connections of the node in the registry of `wire`.
    ///
    /// ```java
    /// PenstockNode.start(PenstockNode.Options.of(space, 1_000)
    ///     .withMeters(new MeteredWire(PenstockMeters.in(registry))));
    /// ```
    public Options withMeters(MeteredWire wire) {
      return new Options(space, blocks, host, port, inFlightBytes, loops, server, requireNonNull(wire, "wire"), policy);
    }

    /// Evicts by another policy than LRU; `SESSIONS` keeps the blocks of conversations between their turns.
    public Options withPolicy(EvictionPolicy newPolicy) {
      return new Options(space, blocks, host, port, inFlightBytes, loops, server, meters, newPolicy);
    }
  }
}
