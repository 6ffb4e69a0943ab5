package io.penstock.gateway;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.disagg.registry.RankRegistry;
import io.penstock.disagg.registry.RegistryOptions;
import io.penstock.gateway.api.ApiJson;
import io.penstock.node.setting.Setting;
import io.penstock.testkit.Eventually;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.cluster.GatewayBoard;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.server.route.DisaggServices;
import io.penstock.wire.server.space.NodeSpaces;
import io.penstock.wire.transport.tcp.TcpListener;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;
import tools.jackson.databind.JsonNode;

/// Two gateways and a node, over sockets.
@Timeout(60)
final class SharedQuotasTest {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final int QUOTA = 20;

  private final LoopResources loops = LoopResources.create("node", 1, true);
  private final Scheduler timers = Schedulers.newSingle("node-timers", true);
  private final KvServer node = requireNonNull(KvServer.bind(
      TcpTransport.server(TcpServerOptions.on("127.0.0.1", 0), loops), NodeSpaces.none(), null,
      new DisaggServices(new RankRegistry(RegistryOptions.defaults(), System::nanoTime, gone -> {}), null)
          .withGateways(new GatewayBoard(System::nanoTime)),
      KvServerOptions.builder().build(), new ByteBudget("node", 1 << 20, 4), timers, Schedulers.immediate())
      .block(PATIENCE));
  private final HttpClient http = HttpClient.newHttpClient();
  private final TokenEngine engine = new TokenEngine();
  private @TempDir Path folder;

  @AfterEach
  void close() {
    engine.close();
    http.close();
    node.close().block(PATIENCE);
    timers.dispose();
    loops.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
  }

  private Gateway gateway() throws Exception {
    int port = ((InetSocketAddress) ((TcpListener) node.listening()).address()).getPort();
    Path quotas = Files.writeString(folder.resolve("quotas"), "* requests=" + QUOTA + "\n");
    Map<Setting<?>, String> flags = Map.of(GatewaySettings.PORT, "0", GatewaySettings.ADMIN_PORT, "0",
        GatewaySettings.REGISTRY, "127.0.0.1:" + port, GatewaySettings.BOTH, engine.url(),
        GatewaySettings.QUOTAS, quotas.toString(), GatewaySettings.HEALTH_INTERVAL, "50ms",
        GatewaySettings.ADMIN_TOKEN, folder.resolve("token").toString());
    return Gateway.start(GatewayConfig.resolve(null, Map.of(), flags));
  }

  private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private boolean asks(Gateway gateway) throws Exception {
    int status = send(HttpRequest.newBuilder(URI.create(gateway.url() + "/v1/completions"))
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString("{\"prompt\":[1,2,3],\"max_tokens\":1}"))).statusCode();
    assertThat(status).isIn(200, 429);
    return status == 200;
  }

  private JsonNode admin(Gateway gateway, String path) {
    try {
      return ApiJson.request(send(HttpRequest.newBuilder(URI.create("http://" + gateway.ready().admin() + path))
          .header("Authorization", "Bearer " + Files.readString(folder.resolve("token")).strip())).body()
          .getBytes(StandardCharsets.UTF_8));
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void gatewaysTogether_letThroughOneQuota_andWithoutTheNodeEachItsOwn() throws Exception {
    try (Gateway one = gateway(); Gateway other = gateway()) {
      Eventually.holds("engines are up", PATIENCE, () -> admin(one, "/health").path("state").asString().equals("ready")
          && admin(other, "/health").path("state").asString().equals("ready"));
      Eventually.holds("each sees the other", PATIENCE, () -> admin(one, "/gateways").path("gateways").size() == 2
          && admin(other, "/gateways").path("gateways").size() == 2);
      assertThat(admin(one, "/gateways").path("quotas").asString()).isEqualTo("shared");
      assertThat(admin(one, "/health").path("quotas").asString()).isEqualTo("shared");
      long began = System.nanoTime();
      int through = 0;
      for (int i = 0; i < 12; i++) {
        through += asks(one) ? 1 : 0;
      }
      assertThat(through).isEqualTo(12);
      Eventually.holds("the other has heard it", PATIENCE,
          () -> admin(other, "/gateways").at("/gateways/1/tenants/0/requests").asInt() == 12);
      for (int i = 0; i < 30; i++) {
        through += asks(other) ? 1 : 0;
      }
      double flownBack = QUOTA * (System.nanoTime() - began) / 60e9;
      assertThat((double) through).isBetween(20.0, QUOTA + flownBack + 1);

      node.close().block(PATIENCE);
      Eventually.holds("quotas are its own", PATIENCE,
          () -> admin(one, "/health").path("quotas").asString().equals("own"));
      assertThat(admin(one, "/gateways").path("quotas").asString()).isEqualTo("own");
      assertThat(send(HttpRequest.newBuilder(URI.create("http://" + one.ready().admin() + "/metrics"))).body())
          .contains("penstock_gateway_quota_shared 0.0", "penstock_gateway_quota_gateways 0.0");
    }
  }
}
