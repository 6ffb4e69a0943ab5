package io.penstock.resp;

import static io.penstock.resp.RespClient.request;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.serve.Node;
import io.penstock.testkit.Eventually;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A door with TLS, and its drain.
@Timeout(300)
final class RespTlsTest {
  private static final Duration SOON = Duration.ofSeconds(120);
  private static final byte[] VALUE = value(1, 3_000_000);
  private static final byte[] OTHER = value(2, 2_000_000);

  @TempDir
  private Path folder;
  private SSLContext tls;
  private Node node;

  private static byte[] value(long seed, int length) {
    byte[] value = new byte[length];
    new Random(seed).nextBytes(value);
    return value;
  }

  @BeforeEach
  void start() throws Exception {
    X509Bundle own = new CertificateBuilder().ecp256().subject("CN=node").addSanIpAddress("127.0.0.1")
        .notBefore(Instant.now().minus(Duration.ofDays(1))).notAfter(Instant.now().plus(Duration.ofDays(1)))
        .setIsCertificateAuthority(true).buildSelfSigned();
    Path cert = Files.writeString(folder.resolve("node.pem"), own.getCertificatePathPEM());
    Path key = Files.writeString(folder.resolve("node.key"), own.getPrivateKeyPEM());
    Path file = Files.writeString(folder.resolve("node.yaml"), """
        listen.port: 0
        admin.port: off
        resp: 127.0.0.1:0
        dram: 32MiB
        tls.cert: %s
        tls.key: %s
        """.formatted(cert, key));
    node = requireNonNull(Node.start(NodeConfig.resolve(file, Map.of(), Map.of())).block(SOON));
    KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
    trusted.load(null, null);
    trusted.setCertificateEntry("node", own.getCertificate());
    TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    tls = SSLContext.getInstance("TLS");
    tls.init(null, trust.getTrustManagers(), null);
  }

  @AfterEach
  void end() {
    node.close().block(SOON);
  }

  private int port() {
    String address = node.doors().getFirst().address();
    return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
  }

  private RespClient connect() throws IOException {
    return new RespClient(tls.getSocketFactory().createSocket("127.0.0.1", port()));
  }

  @Test
  void overTls_valuesGoThereAndBack_andAClientWithoutIsNotServed() throws IOException {
    try (RespClient client = connect()) {
      assertThat(client.call("SET", "k", VALUE)).isEqualTo("+OK");
      assertThat(client.bulk("GET", "k")).isEqualTo(VALUE);
      client.send(request("SET", "a", "1")).send(request("GET", "a")).send(request("EXISTS", "a", "k", "none"));
      assertThat(client.line() + client.line() + client.line() + client.line()).isEqualTo("+OK$11:2");
      byte[] half = request("SET", "half", OTHER);
      try (RespClient gone = connect()) {
        gone.send(half, 0, half.length / 2);
      }
      assertThat(client.bulk("GET", "half")).isNull();
      assertThat(client.bulk("GET", "k")).isEqualTo(VALUE);
    }
    try (RespClient plain = new RespClient(port())) {
      assertThat(plain.send(request("GET", "k")).text(6)).doesNotStartWith("$");
    } catch (SocketException e) {
      // reset, as the door had bytes that it did not read
    }
  }

  @Test
  void drain_answersReads_letsAValueThatComesGo_takesNoNewClient_andEnds() throws Exception {
    byte[] late = request("SET", "k", OTHER);
    CompletableFuture<Boolean> drained;
    try (RespClient client = connect(); RespClient writer = connect()) {
      int port = port();
      assertThat(client.call("SET", "k", VALUE)).isEqualTo("+OK");
      assertThat(client.call("SET", "kept", VALUE)).isEqualTo("+OK");
      writer.send(late, 0, late.length / 2);
      long came = 2L * VALUE.length + OTHER.length;
      Eventually.holds("the value has begun to come",
          () -> node.doors().getFirst().users().get("").bytesIn() == came);
      drained = node.drain().toFuture();
      while (isTaken(port)) { // until the socket is closed
        Thread.onSpinWait();
      }
      assertThat(client.bulk("GET", "kept")).isEqualTo(VALUE);
      assertThat(client.call("SET", "new", OTHER)).isEqualTo("+OK");
      assertThat(client.bulk("GET", "new")).as("a value that came during the drain").isNull();
      assertThat(drained).as("a drain waits for the value that comes").isNotDone();
      writer.send(late, late.length / 2, late.length);
      assertThat(writer.line()).isEqualTo("+OK");
    }
    assertThat(drained.get(120, TimeUnit.SECONDS)).isTrue();
    assertThatThrownBy(this::connect).isInstanceOf(ConnectException.class);
  }

  private static boolean isTaken(int port) throws IOException {
    try {
      new RespClient(port).close();
      return true;
    } catch (ConnectException e) {
      return false;
    } catch (SocketException e) { // accepted, and ended at once
      return true;
    }
  }
}
