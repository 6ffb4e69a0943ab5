package io.penstock.node.serve;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.penstock.block.BlockLayout;
import io.penstock.block.Plane.ElementType;
import io.penstock.disagg.RankId;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.registry.InstanceView;
import io.penstock.disagg.registry.RankRegistry;
import io.penstock.disagg.registry.Registration;
import io.penstock.disagg.registry.Registration.Side;
import io.penstock.disagg.registry.RegistryOptions;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.RankSettings;
import io.penstock.node.shape.LayoutSettings;
import io.penstock.testkit.Eventually;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.KvPeerOptions;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.rank.RankSecret;
import io.penstock.wire.rank.RegistryClient;
import io.penstock.wire.security.Credentials;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.server.route.DisaggServices;
import io.penstock.wire.server.space.NodeSpaces;
import io.penstock.wire.transport.AdvertisedEndpoints;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.NameResolver;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpListener;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// A rank whose registry has a name that moves from one address to another.
@Timeout(60)
final class MovedRegistryTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final InetAddress OLD = InetAddress.ofLiteral("127.0.0.1");
  private static final InetAddress NEW = InetAddress.ofLiteral("127.0.0.2");

  private final LoopResources loops = LoopResources.create("moved", 1, true);
  private final Scheduler timers = Schedulers.newSingle("moved-timers", true);
  private final Logger logger = (Logger) LoggerFactory.getLogger(NodeAsRank.class);
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();
  /// What the name servers answer.
  private final AtomicReference<List<InetAddress>> answer = new AtomicReference<>(List.of());
  private final NameResolver names = new NameResolver(host -> Mono.fromSupplier(answer::get));
  private final List<KvServer> servers = new ArrayList<>();

  @BeforeEach
  void readTheLog() {
    logger.setLevel(Level.WARN);
    log.start();
    logger.addAppender(log);
  }

  @AfterEach
  void close() {
    logger.detachAppender(log);
    logger.setLevel(null);
    servers.forEach(server -> server.close().block(SOON));
    timers.dispose();
    loops.disposeLater(Duration.ZERO, SOON).block(SOON);
  }

  private RankRegistry registry() {
    return new RankRegistry(RegistryOptions.defaults().withHeartbeat(Duration.ofMillis(100), 100), System::nanoTime,
        gone -> {});
  }

  /// @return its port
  private int serve(RankRegistry registry, InetAddress at, int port) {
    KvServer server = requireNonNull(KvServer.bind(
        TcpTransport.server(TcpServerOptions.on(at.getHostAddress(), port), loops), NodeSpaces.none(), null,
        new DisaggServices(registry, null), KvServerOptions.defaults(), new ByteBudget("ingress", 1 << 20, 4), timers,
        Schedulers.immediate()).block(SOON));
    servers.add(server);
    return ((TcpListener) server.listening()).port();
  }

  private NodeAsRank rank(int port) {
    NodeConfig config = NodeConfig.resolve(null, Map.of(), Map.of(LayoutSettings.MODEL, "llama-3.1-8b",
        RankSettings.SIDE, "decode", RankSettings.INSTANCE, "d", RankSettings.REGISTRY, "registry.test:" + port));
    return new NodeAsRank(config, new RegistryPass(null, Credentials.none(), RankSecret.random(new SecureRandom())),
        NodeMeters.create().meters(),
        timers, 7, names, null);
  }

  private static AdvertisedEndpoints wildcard() {
    return new AdvertisedEndpoints(List.of(Endpoint.tcp("0.0.0.0", 7001)), null);
  }

  private static boolean has(RankRegistry registry, String endpoint) {
    List<InstanceView> all = registry.instances();
    return all.stream().flatMap(view -> view.ranks().stream())
        .anyMatch(rank -> rank.endpoint().toString().equals(endpoint));
  }

  private List<String> lines() {
    return List.copyOf(log.list).stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  @Test
  void theRank_comesBackAtTheAddressThatTheNameHasNow() {
    RankRegistry before = registry();
    int port = serve(before, OLD, 0);
    answer.set(List.of(OLD));
    NodeAsRank rank = rank(port);
    rank.register(wildcard(), loops).block(SOON);
    assertThat(has(before, "127.0.0.1:7001")).isTrue();

    RankRegistry after = registry();
    serve(after, NEW, port);
    answer.set(List.of(NEW));
    servers.removeFirst().close().block(SOON);

    Eventually.holds("the rank is at the new address", () -> has(after, "127.0.0.1:7001"));
    assertThat(lines()).containsOnlyOnce("registry registry.test has moved to 127.0.0.2 (was at 127.0.0.1)");
    rank.close().block(SOON);
  }

  @Test
  void anUnknownName_registersNothing_andIsTriedUntilItIsKnown() {
    RankRegistry registry = registry();
    int port = serve(registry, OLD, 0);
    NodeAsRank rank = rank(port);
    rank.register(wildcard(), loops).block(SOON);
    assertThat(registry.instances()).as("a wildcard has no address for a registry nowhere").isEmpty();
    assertThat(lines()).contains("no address is known for registry registry.test: the node keeps trying");

    answer.set(List.of(OLD));

    Eventually.holds("the rank is registered", () -> has(registry, "127.0.0.1:7001"));
    assertThat(lines()).containsOnlyOnce("registry registry.test has an address again: 127.0.0.1");
    rank.close().block(SOON);
  }

  @Test
  void anAddressOfALink_isNotRegistered() throws SocketException {
    int port = serve(registry(), OLD, 0);
    answer.set(List.of(OLD));
    String name = NetworkInterface.networkInterfaces().findFirst().orElseThrow().getName();
    AdvertisedEndpoints link = new AdvertisedEndpoints(List.of(Endpoint.parse("[fe80::7%" + name + "]:7001")), null);
    assertThatThrownBy(() -> rank(port).register(link, loops).block(SOON))
        .hasMessageContaining("listen.host must be one that ranks behind the registry reach by TCP");
  }

  @Test
  void aRegistryThatKnowsTheRank_keepsItsEndpoint() {
    int port = serve(registry(), OLD, 0);
    RegistryClient client = RegistryClient.of(TcpTransport.client(TcpClientOptions.to("127.0.0.1", port), loops),
        KvClientOptions.defaults(), KvPeerOptions.defaults(), timers, new Random(1));
    NodeConfig config = NodeConfig.resolve(null, Map.of(), Map.of());
    AdvertisedEndpoints two = new AdvertisedEndpoints(List.of(Endpoint.tcp("127.0.0.1", 7001),
        Endpoint.tcp("192.0.2.7", 7002)), null);
    RankPlace place = new RankPlace(config, two);
    Function<SocketAddress, Registration> registration = from -> new Registration(Side.DECODE, new RankId("d", 0)
        .since(7), Routes.VERSION,
        Manifest.of("m", BlockLayout.attention(2, 16, 4, 8, ElementType.BF16),
            Parallelism.ofTp(1)),
        place.towards(from));
    assertThat(place.isToBeKept(new IllegalStateException())).isFalse();
    client.register(registration).doOnNext(view -> place.accepted()).block(SOON);

    Throwable refusal = catchThrowable(() -> client.register(
        seen -> registration.apply(new InetSocketAddress("198.51.100.7", 1))).block(SOON));

    assertThat(refusal).hasMessageContaining("endpoint must be 127.0.0.1:7001 (was 192.0.2.7:7002)");
    assertThat(place.isToBeKept(refusal)).isTrue();
    assertThat(place.towards(new InetSocketAddress("198.51.100.7", 1))).hasToString("127.0.0.1:7001");
    assertThat(place.isToBeKept(refusal)).as("refused, too").isFalse();
    client.close().block(SOON);
  }

  @Test
  void anUnknownName_isLoggedAgainAfterTenMinutes() {
    AtomicLong nanos = new AtomicLong();
    NameResolver watched = new RegistryName(names, logger, nanos::get).watched();
    for (int minute = 0; minute < 21; minute++) {
      nanos.set(Duration.ofMinutes(minute).toNanos());
      assertThatThrownBy(() -> watched.addresses("registry.test").block(SOON))
          .hasRootCauseInstanceOf(UnknownHostException.class);
    }
    assertThat(lines()).hasSize(3);
  }
}
