package io.penstock.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.handler.ssl.SslContextBuilder;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.penstock.gateway.api.ApiJson;
import io.penstock.node.setting.Setting;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import tools.jackson.databind.JsonNode;

/// TLS at both ports of the gateway, and to its engines.
@Timeout(30)
final class GatewayTlsTest {
  private @TempDir Path folder;
  private X509Bundle authority;
  private DisposableServer engine;
  private DisposableServer elsewhere;

  @BeforeEach
  void start() throws Exception {
    authority = builder("authority").setIsCertificateAuthority(true).buildSelfSigned();
    Files.writeString(folder.resolve("authority.pem"), authority.getRootCertificatePEM());
    X509Bundle own = issued("127.0.0.1");
    Files.writeString(folder.resolve("own.pem"), own.getCertificatePathPEM());
    Files.writeString(folder.resolve("own.key"), own.getPrivateKeyPEM());
    engine = engine(own);
    elsewhere = engine(issued("192.0.2.1"));
  }

  private static CertificateBuilder builder(String name) {
    Instant now = Instant.now();
    return new CertificateBuilder().ecp256().subject("CN=" + name).notBefore(now.minus(Duration.ofDays(1)))
        .notAfter(now.plus(Duration.ofDays(1)));
  }

  private X509Bundle issued(String address) throws Exception {
    return builder("gateway").addSanIpAddress(address).buildIssuedBy(authority);
  }

  private static DisposableServer engine(X509Bundle own) throws Exception {
    var context = SslContextBuilder.forServer(own.getKeyPair().getPrivate(), own.getCertificatePath()).build();
    return HttpServer.create().host("127.0.0.1").port(0).secure(tls -> tls.sslContext(context)).route(routes -> routes
        .get("/v1/models", (request, response) -> response.sendString(Mono.just("{\"data\":[{\"id\":\"m\"}]}")))
        .post("/v1/completions", (request, response) -> response
            .sendString(Mono.just("{\"choices\":[{\"index\":0,\"text\":\"over TLS\"}]}"))))
        .bindNow();
  }

  @AfterEach
  void stop() {
    engine.disposeNow();
    elsewhere.disposeNow();
  }

  private Gateway gateway(String... trust) throws IOException {
    Map<Setting<?>, String> flags = new HashMap<>(Map.of(GatewaySettings.PORT, "0", GatewaySettings.ADMIN_PORT, "0",
        GatewaySettings.TLS_CERT, folder.resolve("own.pem").toString(), GatewaySettings.TLS_KEY,
        folder.resolve("own.key").toString(), GatewaySettings.ADMIN_TOKEN, folder.resolve("token").toString(),
        GatewaySettings.HEALTH_INTERVAL, "50ms", GatewaySettings.HEALTH_DOWN, "1", GatewaySettings.BOTH,
        "https://127.0.0.1:%d,https://127.0.0.1:%d".formatted(engine.port(), elsewhere.port())));
    if (trust.length > 0) {
      flags.put(GatewaySettings.ENGINE_TRUST, folder.resolve(trust[0]).toString());
    }
    return Gateway.start(GatewayConfig.resolve(null, Map.of(), flags));
  }

  private SSLContext trusting() throws Exception {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    store.setCertificateEntry("authority", authority.getCertificate());
    TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }

  @Test
  void bothPortsAndEngines_speakTls_andAnEngineMustBeItsHost() throws Exception {
    try (Gateway gateway = gateway("authority.pem");
        HttpClient http = HttpClient.newBuilder().sslContext(trusting()).build();
        HttpClient stranger = HttpClient.newHttpClient()) {
      assertThat(gateway.url()).startsWith("https://");
      String answer = "";
      while (!answer.contains("over TLS")) { // the first probe takes some milliseconds
        answer = http.send(HttpRequest.newBuilder(URI.create(gateway.url() + "/v1/completions"))
            .header("Content-Type", "application/json").POST(HttpRequest.BodyPublishers.ofString("{\"prompt\":\"x\"}"))
            .build(), HttpResponse.BodyHandlers.ofString()).body();
      }
      String admin = "https://" + gateway.ready().admin();
      String token = Files.readString(folder.resolve("token")).strip();
      JsonNode instances = ApiJson.MAPPER.readTree(http.send(
          HttpRequest.newBuilder(URI.create(admin + "/instances")).header("Authorization", "Bearer " + token).build(),
          HttpResponse.BodyHandlers.ofString()).body()).path("instances");
      for (JsonNode instance : instances) {
        boolean isRight = instance.path("url").asString("").endsWith(":" + engine.port());
        assertThat(instance.path("state").asString("")).isEqualTo(isRight ? "up" : "down");
      }
      assertThatThrownBy(() -> stranger.send(HttpRequest.newBuilder(URI.create(gateway.url() + "/health")).build(),
          HttpResponse.BodyHandlers.discarding())).isInstanceOf(SSLException.class);
    }
  }
}
