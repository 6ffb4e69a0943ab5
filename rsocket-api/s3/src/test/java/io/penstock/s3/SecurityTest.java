package io.penstock.s3;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.penstock.node.door.DoorUses;
import io.penstock.testkit.Eventually;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Who may do what at this door, over which connections, and until when.
@Timeout(180)
final class SecurityTest {
  private static final byte[] NONE = new byte[0];

  @TempDir
  private Path folder;

  private String file(String name, String text) throws IOException {
    Path file = Files.writeString(folder.resolve(name), text);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    return file.toString();
  }

  @Test
  void overTls_aClientIsServed_andOneWithoutIsNot() throws Exception {
    X509Bundle own = new CertificateBuilder().ecp256().subject("CN=node").addSanIpAddress("127.0.0.1")
        .notBefore(Instant.now().minus(Duration.ofDays(1))).notAfter(Instant.now().plus(Duration.ofDays(1)))
        .setIsCertificateAuthority(true).buildSelfSigned();
    String yaml = "tls.cert: " + file("node.pem", own.getCertificatePathPEM()) + "\ntls.key: "
        + file("node.key", own.getPrivateKeyPEM()) + "\n";
    KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
    trusted.load(null, null);
    trusted.setCertificateEntry("node", own.getCertificate());
    TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    SSLContext tls = SSLContext.getInstance("TLS");
    tls.init(null, trust.getTrustManagers(), null);

    byte[] value = new byte[1_000_000];
    value[999_999] = 7;
    try (TestNode node = TestNode.start(folder, yaml);
        HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).sslContext(tls).build()) {
      assertThat(client.send(request(node, "PUT", "/b/k").PUT(HttpRequest.BodyPublishers.ofByteArray(value)).build(),
          HttpResponse.BodyHandlers.discarding()).statusCode()).isEqualTo(200);
      assertThat(client.send(request(node, "GET", "/b/k").build(), HttpResponse.BodyHandlers.ofByteArray()).body())
          .isEqualTo(value);
      try (RawClient plain = new RawClient(node.port())) {
        plain.send(plain.head("GET", "/b/k", ""));
        assertThat(new String(plain.read(5), StandardCharsets.ISO_8859_1)).isNotEqualTo("HTTP/");
      }
    }
  }

  private static HttpRequest.Builder request(TestNode node, String method, String target) {
    return HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + node.port()
        + RawClient.signed(node.port(), method, target))).timeout(Duration.ofSeconds(60));
  }

  @Test
  void roles_sayWhatAUserMayDo() throws Exception {
    String users = file("users", "");
    for (String role : new String[] {"reader", "writer", "admin"}) {
      String digest = HexFormat.of().formatHex(
          MessageDigest.getInstance("SHA-256").digest(role.repeat(12).getBytes(StandardCharsets.UTF_8)));
      users = file("users", Files.readString(Path.of(users)) + TestNode.USER + "-" + role + ":sha256$" + digest + "\n");
    }
    String rules = file("rules", "users: {engine-reader: reader, engine-writer: writer, engine-admin: admin}\n");
    for (String role : new String[] {"reader", "writer", "admin"}) {
      String yaml = "auth.users: " + users + "\naccess.rules: " + rules + "\n";
      try (TestNode node = TestNode.start(folder, TestNode.USER + "-" + role, yaml);
          RawClient client = new RawClient(node.port())) {
        boolean mayWrite = !role.equals("reader");
        boolean mayRemove = role.equals("admin");
        RawClient.Answer put = client.ask("PUT", "/b/k", "", "value".getBytes(StandardCharsets.UTF_8));
        assertThat(put.status()).as(role).isEqualTo(mayWrite ? 200 : 403);
        assertThat(put.text()).as(role).contains(mayWrite ? "" : "<Code>AccessDenied</Code>");
        assertThat(client.ask("GET", "/b/k", "", NONE).status()).as(role).isEqualTo(mayWrite ? 200 : 404);
        assertThat(client.ask("DELETE", "/b/k", "", NONE).status()).as(role).isEqualTo(mayRemove ? 204 : 403);
        assertThat(client.ask("HEAD", "/b/k", "", NONE).status()).as(role)
            .isEqualTo(mayWrite && !mayRemove ? 200 : 404);
        DoorUses.Figures figures = node.door().users().get(TestNode.USER + "-" + role);
        assertThat(figures.refusals()).as(role.toUpperCase(Locale.ROOT)).isEqualTo(mayRemove ? 0 : mayWrite ? 1 : 2);
      }
    }
  }

  @Test
  void aPrefix_keepsTheNamesOfUsersApart() throws Exception {
    try (TestNode node = TestNode.start(folder, "s3.prefix: none,engine=tenant-a/\ns3.spaces: values\n");
        RawClient client = new RawClient(node.port())) {
      assertThat(client.ask("PUT", "/b/dir/k", "", new byte[10]).status()).isEqualTo(200);
      assertThat(client.get("/b/dir/k").body()).hasSize(10);
      assertThat(client.get("/b?list-type=2&prefix=dir/").text()).contains("<Key>dir/k</Key>").doesNotContain("tenant");
      assertThat(client.get("/tenant-a?list-type=2").text()).contains("<KeyCount>0</KeyCount>");
      assertThat(client.get("/tenant-a/b/dir/k").status()).isEqualTo(404);
      assertThat(client.ask("DELETE", "/b/dir/k", "", NONE).status()).isEqualTo(204);
    }
    String yaml = "listen.port: 0\nadmin.port: 0\ndram: 16MiB\ns3: 127.0.0.1:0\ns3.prefix: all/\n";
    try (TestNode node = TestNode.startAsIs(folder, yaml); RawClient client = new RawClient(node.port())) {
      assertThat(client.ask("PUT", "/b/k", "", new byte[10]).status()).isEqualTo(200);
      assertThat(node.door().names()).extractingByKey("values").satisfies(names -> assertThat(names.known()).isOne());
      assertThat(client.get("/b/k").status()).isEqualTo(200);
    }
  }

  @Test
  void drain_answersReads_andLetsNewObjectsGo() throws Exception {
    try (TestNode node = TestNode.start(folder, "");
        RawClient client = new RawClient(node.port());
        RawClient slow = new RawClient(node.port())) {
      assertThat(client.ask("PUT", "/b/k", "", new byte[100_000]).status()).isEqualTo(200);
      slow.send(slow.head("PUT", "/b/slow", "Expect: 100-continue\r\nContent-Length: 100000\r\n"));
      assertThat(new String(slow.read(25), StandardCharsets.ISO_8859_1)).isEqualTo("HTTP/1.1 100 Continue\r\n\r\n");
      slow.send(new byte[60_000]);

      CompletableFuture<Boolean> drained = node.node().drain().toFuture();
      Eventually.holds("new objects go", () -> {
        assertThat(client.ask("PUT", "/b/late", "", new byte[100]).status()).isEqualTo(200);
        return node.door().users().get(TestNode.USER).drops() > 0;
      });
      RawClient.Answer read = client.get("/b/k");
      assertThat(read.status()).isEqualTo(200);
      assertThat(read.body()).hasSize(100_000);
      assertThat(drained).isNotDone();
      slow.send(new byte[40_000]);
      assertThat(slow.answer(false).status()).isEqualTo(200);
      assertThat(drained.get(60, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void drain_makesEachResponseTheLastOfItsConnection_thoughARequestIsUnderWay() throws Exception {
    try (TestNode node = TestNode.start(folder, "drain.timeout: 2s\n");
        RawClient client = new RawClient(node.port());
        RawClient slow = new RawClient(node.port())) {
      assertThat(client.ask("PUT", "/b/k", "", new byte[100_000]).status()).isEqualTo(200);
      slow.send(slow.head("PUT", "/b/slow", "Expect: 100-continue\r\nContent-Length: 100000\r\n"));
      assertThat(new String(slow.read(25), StandardCharsets.ISO_8859_1)).isEqualTo("HTTP/1.1 100 Continue\r\n\r\n");

      CompletableFuture<Boolean> drained = node.node().drain().toFuture();
      RawClient.Answer read = client.get("/b/k");
      while (!"close".equals(read.headers().get("connection"))) {
        assertThat(read.body()).hasSize(100_000);
        read = client.get("/b/k");
      }
      assertThat(read.body()).hasSize(100_000);
      slow.send(new byte[100_000]);
      assertThat(slow.answer(false).status()).isEqualTo(200);
      assertThat(drained.get(60, TimeUnit.SECONDS)).isTrue();
    }
  }
}
