package io.penstock.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.gateway.engines.EngineServer;
import io.penstock.gateway.engines.KvNetwork;
import io.penstock.gateway.engines.NixlPullDecode;
import io.penstock.gateway.engines.NixlPullPrefill;
import io.penstock.wire.security.UserFile;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import reactor.netty.resources.LoopResources;

/// What official clients are tested with: a gateway with API keys before a prefill and a decode engine.
public final class ClientsGateway implements AutoCloseable {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final LoopResources loops = LoopResources.create("engines", 1, true);
  private final KvNetwork network = new KvNetwork();
  private final NixlPullPrefill prefill = new NixlPullPrefill(network, "p0");
  private final NixlPullDecode decode = new NixlPullDecode(network, List.of("p0"));
  private final EngineServer prefillServer = EngineServer.start(() -> prefill, loops);
  private final EngineServer decodeServer = EngineServer.start(() -> decode, loops);
  private final String key;
  private final String poorKey;
  private final TestGateway gateway;

  private ClientsGateway(Path folder) throws IOException, InterruptedException {
    char[] rich = UserFile.newToken(new SecureRandom());
    char[] poor = UserFile.newToken(new SecureRandom());
    key = new String(rich);
    poorKey = new String(poor);
    Path keys = Files.writeString(folder.resolve("keys"),
        UserFile.lineOf("rich", rich) + "\n" + UserFile.lineOf("poor", poor) + "\n");
    Path quotas = Files.writeString(folder.resolve("quotas"), "poor requests=1\n");
    gateway = TestGateway.start(Map.of("prefill", prefillServer.url(), "decode", decodeServer.url(), "dialect",
        "nixl-pull", "keys.file", keys.toString(), "quotas.file", quotas.toString()), 1);
    try (HttpClient http = HttpClient.newHttpClient()) {
      HttpRequest only = HttpRequest.newBuilder(URI.create(gateway.url() + "/v1/models"))
          .header("Authorization", "Bearer " + poorKey).build();
      assertThat(http.send(only, HttpResponse.BodyHandlers.discarding()).statusCode()).isEqualTo(200);
    }
  }

  /// @param folder for the files of keys and quotas
  public static ClientsGateway start(Path folder) throws IOException, InterruptedException {
    return new ClientsGateway(folder);
  }

  public String url() {
    return gateway.url();
  }

  /// A key without limits.
  public String key() {
    return key;
  }

  /// The key of a tenant that has used its quota.
  public String poorKey() {
    return poorKey;
  }

  /// Fails unless both engines are free within a second, and refused nothing.
  public void requireFree() {
    decode.running(0).block(SECOND);
    prefill.running(0).block(SECOND);
    assertThat(network.held() + network.waiting()).isZero();
    assertThat(decode.refusals()).isEmpty();
    assertThat(prefill.refusals()).isEmpty();
  }

  @Override
  public void close() {
    gateway.close();
    prefillServer.close();
    decodeServer.close();
    loops.disposeLater(Duration.ZERO, SECOND).block();
  }
}
