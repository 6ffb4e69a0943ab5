package io.penstock.gateway;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockLayout;
import io.penstock.block.Plane.ElementType;
import io.penstock.disagg.RankId;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.registry.RankRegistry;
import io.penstock.disagg.registry.Registration;
import io.penstock.disagg.registry.Registration.Endpoint;
import io.penstock.disagg.registry.Registration.Engine;
import io.penstock.disagg.registry.Registration.Side;
import io.penstock.disagg.registry.RegistryOptions;
import io.penstock.gateway.api.ApiJson;
import io.penstock.node.setting.Setting;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.KvPeerOptions;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.rank.RegistryClient;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.server.route.DisaggServices;
import io.penstock.wire.server.space.NodeSpaces;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpListener;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// A gateway finds its engines in the registry of a node, over sockets.
@Timeout(30)
final class RegistryLinkTest {
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final Manifest MODEL =
      Manifest.of("m", BlockLayout.attention(2, 16, 4, 8, ElementType.BF16), Parallelism.ofTp(1));

  private final LoopResources loops = LoopResources.create("registry", 1, true);
  private final Scheduler timers = Schedulers.newSingle("registry-timers", true);
  private final RankRegistry ranks = new RankRegistry(RegistryOptions.defaults(), System::nanoTime, gone -> {});
  private final KvServer node = requireNonNull(KvServer.bind(
      TcpTransport.server(TcpServerOptions.on("127.0.0.1", 0), loops), NodeSpaces.none(), null,
      new DisaggServices(ranks, null), KvServerOptions.builder().build(), new ByteBudget("node", 1 << 20, 4), timers,
      Schedulers.immediate()).block(PATIENCE));
  private final int port = ((InetSocketAddress) ((TcpListener) node.listening()).address()).getPort();
  private final RegistryClient client =
      RegistryClient.of(TcpTransport.client(TcpClientOptions.to("127.0.0.1", port), loops), KvClientOptions.defaults(),
          KvPeerOptions.defaults(), timers, new Random(1));
  private final HttpClient http = HttpClient.newHttpClient();
  private final TokenEngine one = new TokenEngine();
  private final TokenEngine two = new TokenEngine();
  private @TempDir Path folder;

  @AfterEach
  void close() {
    one.close();
    two.close();
    http.close();
    client.close().block(PATIENCE);
    node.close().block(PATIENCE);
    timers.dispose();
    loops.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
  }

  private static Registration registration(String name, TokenEngine engine, boolean isDraining) {
    URI url = URI.create(engine.url());
    return new Registration(Side.PREFILL, new RankId(name, 0).since(1), Routes.VERSION, MODEL,
        new Endpoint(url.getHost(), url.getPort()))
        .withEngine(new Engine(Engine.Role.BOTH, engine.url(), isDraining));
  }

  @Test
  void enginesComeDrainAndGo_whileTheGatewayServes() throws Exception {
    client.register(registration("one", one, false)).block(PATIENCE);
    Map<Setting<?>, String> flags = Map.of(GatewaySettings.PORT, "0", GatewaySettings.ADMIN_PORT, "0",
        GatewaySettings.REGISTRY, "127.0.0.1:" + port, GatewaySettings.REGISTRY_MODEL, "m",
        GatewaySettings.REGISTRY_INTERVAL, "20ms", GatewaySettings.HEALTH_INTERVAL, "50ms",
        GatewaySettings.ADMIN_TOKEN, folder.resolve("token").toString());
    try (Gateway gateway = Gateway.start(GatewayConfig.resolve(null, Map.of(), flags))) {
      await(gateway, all -> all.contains("\"one\"") && all.contains("\"up\""));
      client.register(registration("two", two, false)).block(PATIENCE);
      await(gateway, all -> all.contains("\"two\"") && !all.contains("\"down\""));
      client.register(registration("one", one, true)).block(PATIENCE);
      await(gateway, all -> all.contains("\"draining\""));
      int before = one.bodies.size();
      assertThat(complete(gateway)).contains("choices");
      assertThat(one.bodies).hasSize(before);
      client.leave(new RankId("one", 0).since(1)).block(PATIENCE);
      await(gateway, all -> !all.contains("\"one\""));
      node.close().block(PATIENCE);
      assertThat(complete(gateway)).as("the registry is away").contains("choices");
      assertThat(instances(gateway)).contains("\"two\"");
    }
  }

  @Test
  void nodeWithoutARegistry_isNamedAsTheReason_andSoIsAGatewayWithoutEngines() throws Exception {
    KvServer plain = requireNonNull(KvServer.bind(
        TcpTransport.server(TcpServerOptions.on("127.0.0.1", 0), loops), NodeSpaces.none(), null,
        DisaggServices.none(), KvServerOptions.builder().build(), new ByteBudget("plain", 1 << 20, 4), timers,
        Schedulers.immediate()).block(PATIENCE));
    int at = ((InetSocketAddress) ((TcpListener) plain.listening()).address()).getPort();
    Map<Setting<?>, String> flags = Map.of(GatewaySettings.PORT, "0", GatewaySettings.ADMIN_PORT, "off",
        GatewaySettings.REGISTRY, "127.0.0.1:" + at);
    try (LogLines followed = new LogLines("io.penstock.gateway.instance.RegistryFollower");
        LogLines begun = new LogLines("io.penstock.gateway.Gateway")) {
      try (Gateway _ = Gateway.start(GatewayConfig.resolve(null, Map.of(), flags))) {
        followed.await(lines -> !lines.isEmpty());
        assertThat(followed.lines()).first().asString().contains("serve --registry true");
        assertThat(begun.lines()).isEmpty();
      }
      Gateway.start(GatewayConfig.resolve(null, Map.of(), Map.of(GatewaySettings.PORT, "0",
          GatewaySettings.ADMIN_PORT, "off"))).close();
      assertThat(begun.lines()).singleElement().asString().startsWith("no engine is given");
    } finally {
      plain.close().block(PATIENCE);
    }
  }

  private String complete(Gateway gateway) throws Exception {
    return http.send(HttpRequest.newBuilder(URI.create(gateway.url() + "/v1/completions"))
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(ApiJson.text(ApiJson.object().put("prompt", "x")))).build(),
        HttpResponse.BodyHandlers.ofString()).body();
  }

  private String instances(Gateway gateway) throws Exception {
    return http.send(HttpRequest.newBuilder(URI.create("http://" + gateway.ready().admin() + "/instances"))
        .header("Authorization", "Bearer " + Files.readString(folder.resolve("token")).strip()).build(),
        HttpResponse.BodyHandlers.ofString()).body();
  }

  private void await(Gateway gateway, Predicate<String> expected) throws Exception {
    String all = instances(gateway);
    while (!expected.test(all)) { // the limit is the test's
      all = instances(gateway);
    }
  }
}
