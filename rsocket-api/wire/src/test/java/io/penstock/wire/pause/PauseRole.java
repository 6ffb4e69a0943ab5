package io.penstock.wire.pause;

import static java.util.Objects.requireNonNull;

import io.penstock.TransientKvException;
import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.BlockScope;
import io.penstock.block.Plane;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import io.penstock.disagg.plan.KvRequest;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.plan.Planner;
import io.penstock.disagg.plan.Rank;
import io.penstock.disagg.plan.Transfer;
import io.penstock.disagg.registry.InstanceView;
import io.penstock.disagg.registry.RankRegistry;
import io.penstock.disagg.registry.Registration;
import io.penstock.disagg.registry.Registration.Endpoint;
import io.penstock.disagg.registry.Registration.Side;
import io.penstock.disagg.request.DecodeConnector;
import io.penstock.disagg.request.Ending;
import io.penstock.disagg.request.FailurePolicy;
import io.penstock.disagg.request.KvConnector;
import io.penstock.disagg.request.LifecycleListener;
import io.penstock.disagg.request.MoveTicket;
import io.penstock.disagg.request.PlannedOrder;
import io.penstock.disagg.request.PrefillConnector;
import io.penstock.disagg.request.ReceiveOrder;
import io.penstock.disagg.request.Received;
import io.penstock.disagg.request.Release;
import io.penstock.disagg.request.ShardMover;
import io.penstock.flow.PullBlocks;
import io.penstock.operator.LiveTimers;
import io.penstock.stack.TierStack;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.stack.shape.StackOptions.HoldOptions;
import io.penstock.system.LiveClock;
import io.penstock.testkit.ReshardedModel;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.PutSource;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierHolds.ReadLease;
import io.penstock.tier.TierListener;
import io.penstock.wire.Link;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.KvPeerOptions;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.rank.RankViews;
import io.penstock.wire.rank.RegistryClient;
import io.penstock.wire.rank.RemoteRequests;
import io.penstock.wire.rank.WireSignals;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.server.route.DisaggServices;
import io.penstock.wire.server.space.NodeSpaces;
import io.rsocket.transport.ClientTransport;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.util.retry.Retry;

/// One process under load: a registry, a node, a prefill or a decode. It reports events as lines on standard output,
/// stops its load at the first line on standard input, and ends with that stream.
final class PauseRole {
  /// Requests of a decode at one time.
  static final int CONCURRENCY = 4;

  private static final Duration SOON = Duration.ofMinutes(2);
  private static final int BLOCKS = 4;
  private static final int TOKENS = 8;
  /// So many that the shares of leases bound no request.
  private static final int ROOM = 64 * BLOCKS;
  private static final ReshardedModel.Rank PLACE = new ReshardedModel(2, 2, List.of(
      new Plane(Plane.Kind.KEY, ElementType.BF16, 1, 16))).rank(0, 2, 0, 2, TOKENS, TokenOrder.NHD);
  private static final Manifest MANIFEST = Manifest.of("resharded", PLACE.layout(), Parallelism.ofTp(1));
  private static final List<BlockKey> KEYS = IntStream.range(0, BLOCKS).mapToObj(PLACE::key).toList();

  private final PauseLimits limits;
  private final Scheduler timers = LiveTimers.of(Schedulers.newSingle("timers", true));
  private final AtomicBoolean stopping = new AtomicBoolean();

  private PauseRole(PauseLimits limits) {
    this.limits = limits;
  }

  /// @param arguments role, number, heartbeat and lease in milliseconds; then the ports of the registry and the node,
  ///     for a prefill or a decode, and the number of prefills
  public static void main(String... arguments) throws IOException {
    PauseRole role = new PauseRole(PauseLimits.read(arguments, 2));
    String name = arguments[0] + "-" + arguments[1];
    switch (arguments[0]) {
      case "registry" -> role.registry();
      case "node" -> role.node();
      case "prefill" -> role.prefill(name, Integer.parseInt(arguments[4]));
      default -> role.decode(name, Integer.parseInt(arguments[4]), Integer.parseInt(arguments[5]),
          Integer.parseInt(arguments[6]));
    }
    while (System.in.read() >= 0) {
      role.stopping.set(true);
    }
    Runtime.getRuntime().halt(0);
  }

  private static synchronized void say(String line) {
    System.out.println(line);
  }

  private KvServer serve(NodeSpaces spaces, DisaggServices services, long generation) {
    return requireNonNull(KvServer.bind(Link.PENSTOCK.server(), spaces, null, services,
        KvServerOptions.builder().generation(generation).build(), new ByteBudget("node", 8 << 20, 64), timers,
        Schedulers.immediate()).block(SOON));
  }

  private void registry() {
    RankRegistry ranks = new RankRegistry(limits.registry(), LiveClock.process()::nanos, gone -> say("gone " + gone));
    Disposable unused = timers.schedulePeriodically(ranks::expire, 50, 50, TimeUnit.MILLISECONDS);
    say("port " + Link.PENSTOCK.port(serve(NodeSpaces.of(List.of(tier())), new DisaggServices(ranks, null), 1)));
  }

  private TierStack tier() {
    TierStack tier = new TierStack(PLACE.space(), List.of(new StackLevel.Host("dram", ROOM)),
        StackOptions.defaults("dram").withHolds(HoldOptions.defaults().withLeaseLife(limits.lease())),
        TierListener.noop());
    Disposable unused = timers.schedulePeriodically(tier::expire, 50, 50, TimeUnit.MILLISECONDS);
    try (SlabArena arena = new SlabArena("made", PLACE.layout(), BLOCKS, 1)) {
      List<Block> made = IntStream.range(0, BLOCKS).mapToObj(block -> PLACE.block(arena, block)).toList();
      tier.put(KEYS, SliceShape.defaults(), PutSource.of(made, SliceShape.Order.LAYER_FIRST)).blockLast(SOON);
      made.forEach(Block::close);
    }
    return tier;
  }

  private void node() {
    say("port " + Link.PENSTOCK.port(serve(NodeSpaces.of(List.of(tier())), DisaggServices.none(), 1)));
  }

  private RegistryClient stay(Side side, Incarnation who, KvConnector connector, NodeSpaces spaces, int registryPort) {
    KvServer server = serve(spaces, new DisaggServices(null, connector), who.generation());
    RegistryClient registry = RegistryClient.of(Link.PENSTOCK.client(registryPort), KvClientOptions.defaults(),
        KvPeerOptions.defaults(), timers, new Random(1));
    Registration self = new Registration(side, who, Routes.VERSION, MANIFEST,
        new Endpoint("127.0.0.1", Link.PENSTOCK.port(server)));
    registry.register(self).block(SOON);
    Disposable unused = registry.stay(self).subscribe(view -> say("registered"),
        failure -> say("refused " + failure));
    return registry;
  }

  private void prefill(String name, int registryPort) {
    PrefillConnector kept = new PrefillConnector(limits.lifecycle(), new LifecycleListener() {
      @Override
      public void released(String request, Release release) {
        say("released " + request + " " + release);
      }
    }, timers);
    stay(Side.PREFILL, new RankId(name, 0).since(1), kept, NodeSpaces.of(List.of(tier())), registryPort);
    say("ready");
  }

  // A decode

  private void decode(String name, int registryPort, int nodePort, int prefillCount) {
    Incarnation self = new RankId(name, 0).since(1);
    List<InstanceView> prefills = new ArrayList<>();
    WireSignals signals = new WireSignals(rank -> place(prefills, rank), KvClientOptions.defaults(),
        KvPeerOptions.defaults(), timers, new Random(2));
    DecodeConnector requests = new DecodeConnector(self, limits.lifecycle(), signals, LifecycleListener.noop(), timers,
        new Random(3));
    RankViews views = new RankViews(rank -> place(prefills, rank), KvClientOptions.defaults(),
        KvPeerOptions.defaults().withPatience(SOON), new ByteBudget("decode", 8 << 20, 64), requests::gone, timers,
        new Random(4));
    RegistryClient registry = stay(Side.DECODE, self, requests, NodeSpaces.none(), registryPort);
    for (int number = 0; number < prefillCount; number++) {
      prefills.add(registry.ready("prefill-" + number, SOON).blockOptional(SOON).orElseThrow());
    }
    List<RemoteRequests> engines = prefills.stream().map(view -> RemoteRequests.of(
        Link.PENSTOCK.client(view.ranks().getFirst().endpoint().port()), KvClientOptions.defaults(),
        KvPeerOptions.defaults(), timers, new Random(5))).toList();
    holdBlocks(nodePort);
    Random random = new Random(name.hashCode());
    AtomicInteger number = new AtomicInteger();
    for (int line = 0; line < CONCURRENCY; line++) {
      Disposable unused = Mono.defer(() -> {
        int turn = number.incrementAndGet();
        int source = turn % prefillCount;
        return new Load(name + "-r" + turn, self, prefills.get(source), engines.get(source), requests, views,
            limits.move(random)).run();
      }).repeat(() -> !stopping.get()).subscribe(ended -> {}, failure -> say("broken " + failure),
          () -> say("idle"));
    }
    say("ready");
  }

  private static Mono<ClientTransport> place(List<InstanceView> prefills, Incarnation rank) {
    return Flux.fromIterable(prefills).concatMapIterable(InstanceView::ranks).filter(one -> one.who().equals(rank))
        .next().map(one -> Link.PENSTOCK.client(one.endpoint().port()));
  }

  /// Holds blocks of the node by a lease that it renews in time.
  private void holdBlocks(int nodePort) {
    SlabArena arena = new SlabArena("read", PLACE.layout(), 4 * BLOCKS, 8);
    KvClient client = requireNonNull(KvClient.connect(Link.PENSTOCK.client(nodePort), KvClientOptions.defaults(),
        PLACE.space(), arena, new ByteBudget("reader", 8 << 20, 8)).block(SOON));
    TierHolds holds = client.holds();
    Disposable unused = holds.lease(KEYS, LeaseTerms.defaults()).flatMap(lease -> {
      say("leased");
      return renewed(holds, lease);
    }).doOnError(failure -> say("lease " + failure.getClass().getSimpleName()))
        .onErrorResume(failure -> Mono.delay(Duration.ofMillis(100), timers).then()).repeat().subscribe();
  }

  /// Reads under the lease again and again, until that fails.
  private Mono<Void> renewed(TierHolds holds, ReadLease lease) {
    Mono<Integer> read = Mono.using(BlockScope::new, scope -> holds.read(lease.id(), KEYS, scope)
        .flatMap(found -> found.slices(SliceShape.defaults(), scope).count()).map(Long::intValue), BlockScope::close);
    Mono<Integer> renewal = read.retryWhen(Retry.fixedDelay(Long.MAX_VALUE, Duration.ofMillis(100))
        .filter(TransientKvException.class::isInstance)); // the node may stand still for longer than an answer may take
    return renewal.then(Mono.delay(limits.lease().dividedBy(3), timers)).repeat().then();
  }

  /// One request, from the engine's question to its one end.
  private record Load(String request, Incarnation self, InstanceView prefill, RemoteRequests engine,
      DecodeConnector requests, RankViews views, Duration move) {
    Mono<Ending> run() {
      say("begun " + request);
      return engine.keep(request, PLACE.space().id(), KEYS, Set.of(self.rank()))
          .retryWhen(Retry.fixedDelay(Long.MAX_VALUE, Duration.ofMillis(100))
              .filter(TransientKvException.class::isInstance))
          .flatMap(answer -> receive())
          .doOnNext(received -> say("ended " + request + " " + received.ending() + " " + received.cause()))
          .map(Received::ending);
    }

    private Mono<Received> receive() {
      BlockScope scope = new BlockScope();
      SlabArena arena = new SlabArena("to", PLACE.layout(), BLOCKS, 1);
      List<BlockDraft> drafts = KEYS.stream()
          .map(key -> scope.adopt(requireNonNull(arena.tryClaim(List.of(key))).getFirst())).toList();
      ReceiveOrder order = PlannedOrder.of(
          new Planner(prefill.manifest(), MANIFEST).plan(new KvRequest(request, BLOCKS * TOKENS, 0)),
          new Rank(0, 0, 0), source -> prefill.ranks().getFirst().who(),
          (source, transfers) -> new LateMover(this, transfers, drafts),
          new PlannedOrder.Terms(() -> Mono.fromRunnable(scope::close), false, FailurePolicy.retry(8),
              Duration.ofMinutes(5)));
      return requests.receive(order).doOnNext(received -> {
        if (received.ending() == Ending.READY) {
          for (int block = 0; block < BLOCKS; block++) {
            verify(block, scope.adopt(drafts.get(block).seal()));
          }
        }
        scope.close();
        arena.close();
      });
    }

    private static void verify(int block, Block got) {
      got.read(memory -> {
        PLACE.requireBytes(block, 0, BLOCKS * TOKENS, memory);
        return memory;
      });
    }
  }

  /// Moves the blocks after a while in which the lease must be renewed. A repeated move writes no byte twice.
  private static final class LateMover implements ShardMover {
    private final Load load;
    private final ShardMover pull;
    private volatile PullBlocks.@Nullable Lane connected;

    LateMover(Load load, List<Transfer> transfers, List<BlockDraft> drafts) {
      this.load = load;
      this.pull = PullBlocks.mover(transfers, new PullBlocks.Places() {
        @Override
        public PullBlocks.Lane lane(Transfer transfer) {
          return requireNonNull(connected);
        }

        @Override
        public List<BlockKey> keys(Transfer transfer) {
          return KEYS;
        }

        @Override
        public BlockDraft draft(Transfer transfer, int destinationBlock) {
          return drafts.get(destinationBlock);
        }
      }, false);
    }

    @Override
    public Mono<Void> move(MoveTicket ticket) {
      ticket.accepted();
      return Mono.delay(load.move(), Schedulers.parallel())
          .then(load.views().of(ticket.source(), PLACE.space())).flatMap(views -> {
            connected = new PullBlocks.Lane(views, 8);
            return pull.move(ticket);
          });
    }

    @Override
    public Mono<Void> drained(MoveTicket ticket) {
      return pull.drained(ticket);
    }
  }
}
