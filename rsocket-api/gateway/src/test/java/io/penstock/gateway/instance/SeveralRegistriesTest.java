package io.penstock.gateway.instance;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockLayout;
import io.penstock.block.Plane.ElementType;
import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.registry.RankRegistry;
import io.penstock.disagg.registry.Registration;
import io.penstock.disagg.registry.Registration.Endpoint;
import io.penstock.disagg.registry.Registration.Engine;
import io.penstock.disagg.registry.Registration.Side;
import io.penstock.disagg.registry.RegistryOptions;
import io.penstock.node.cluster.MemoryTable;
import io.penstock.testkit.Eventually;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.KvPeerOptions;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.rank.RegistryClient;
import io.penstock.wire.rank.SharedRanks;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.server.route.DisaggServices;
import io.penstock.wire.server.space.NodeSpaces;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpListener;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import io.rsocket.transport.ClientTransport;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// A rank and a gateway that know two nodes of one registry, over sockets: either node may die.
@Timeout(60)
final class SeveralRegistriesTest {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final Incarnation RANK = new RankId("one", 0).since(1);
  private static final Registration REGISTRATION = new Registration(Side.PREFILL, RANK, Routes.VERSION,
      Manifest.of("m", BlockLayout.attention(2, 16, 4, 8, ElementType.BF16), Parallelism.ofTp(1)),
      new Endpoint("h", 1)).withEngine(new Engine(Engine.Role.BOTH, "http://h:8100", false));

  private final LoopResources loops = LoopResources.create("several", 1, true);
  private final Scheduler timers = Schedulers.newSingle("several-timers", true);
  private final MemoryTable table = new MemoryTable();
  private final Queue<Incarnation> gone = new ConcurrentLinkedQueue<>();
  private int seeds = 4;
  private final Node first = new Node();
  private final Node second = new Node();
  private final RegistryClient rank = client(first, second);
  private final RegistryClient gateway = client(second, first);
  private final Disposable.Swap staying = Disposables.swap();
  private final Instances instances = new Instances(HealthOptions.defaults(), address -> Mono.empty(), timers);
  private final RegistryFollower follower = new RegistryFollower(instances,
      new RegistryFollower.Options(Duration.ofMillis(20), Duration.ofSeconds(2)), view -> true, timers);
  private final List<String> states = new CopyOnWriteArrayList<>();

  /// A node with a registry for which a rank is silent after 12 s.
  private final class Node {
    private final SharedRanks share = new SharedRanks(timers, new Random(seeds++));
    final RankRegistry registry = new RankRegistry(
        RegistryOptions.defaults().withHeartbeat(Duration.ofMillis(300), 40), System::nanoTime, gone::add, share,
        new Random(seeds++));
    final Disposable joined = share.join(registry, table);
    final KvServer server = requireNonNull(KvServer.bind(
        TcpTransport.server(TcpServerOptions.on("127.0.0.1", 0), loops), NodeSpaces.none(), null,
        new DisaggServices(registry, null), KvServerOptions.builder().build(), new ByteBudget("node", 1 << 20, 4),
        timers, Schedulers.immediate()).block(PATIENCE));
    private final int port = ((TcpListener) server.listening()).port();

    ClientTransport transport() {
      return TcpTransport.client(TcpClientOptions.to("127.0.0.1", port), loops);
    }

    void die() {
      joined.dispose();
      server.close().block(PATIENCE);
    }

    boolean hearsItself() {
      return !registry.heardHere(Duration.ofMillis(600)).isEmpty();
    }
  }

  private RegistryClient client(Node... nodes) {
    return RegistryClient.of(Stream.of(nodes).map(Node::transport).toList(), KvClientOptions.defaults(),
        KvPeerOptions.defaults(), timers, new Random(3));
  }

  @BeforeEach
  void registerAndFollow() {
    staying.update(rank.stay(REGISTRATION).subscribe());
    follower.follow(gateway.instances().doOnNext(found -> states.add(found.size() + " at " + instances.all().size())));
    Eventually.holds("the gateway knows the engine", () -> instances.all().size() == 1);
  }

  @AfterEach
  void close() {
    staying.dispose();
    follower.close();
    Stream.of(rank, gateway).forEach(each -> each.close().block(PATIENCE));
    Stream.of(first, second).forEach(Node::die);
    timers.dispose();
    loops.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
  }

  @Test
  void theRank_goesOnAtTheOtherNode_andTheGatewayKeepsItsEngine() {
    AtomicReference<Node> dying = new AtomicReference<>(first);
    Eventually.holds("the rank beats at one node alone", () -> { // where the first is slow to answer, at the second
      boolean isFirst = first.hearsItself();
      dying.set(isFirst ? first : second);
      return isFirst != second.hearsItself();
    });
    Node other = dying.get() == first ? second : first;
    Instance before = instances.all().getFirst();

    dying.get().die();

    Eventually.holds("the rank beats at the other node", other::hearsItself);
    assertThat(gone).as("it was never silent").isEmpty();
    assertThat(instances.all()).containsExactly(before);
  }

  @Test
  void theGateway_asksTheOtherNode_andKeepsItsEngine() {
    Instance before = instances.all().getFirst();
    int asked = states.size();

    second.die();

    Eventually.holds("the other node answers", () -> states.size() > asked + 10);
    assertThat(List.copyOf(states.subList(asked, asked + 10))).containsOnly("1 at 1");
    assertThat(instances.all()).containsExactly(before);
  }
}
