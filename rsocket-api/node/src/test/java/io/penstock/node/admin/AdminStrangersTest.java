package io.penstock.node.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.penstock.testkit.Eventually;
import io.penstock.wire.security.Access;
import io.penstock.wire.security.AccessRules;
import io.penstock.wire.security.Grant;
import io.penstock.wire.security.Role;
import io.penstock.wire.security.UserFile;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.DisposableServer;
import reactor.netty.resources.LoopResources;
import reactor.netty.tcp.TcpServer;

/// Plain sockets at the admin port: what a browser, a probe and a stranger send.
@Timeout(60)
final class AdminStrangersTest {
  private static final Duration SOON = Duration.ofSeconds(10);
  private static final AdminPages PAGES = new AdminPages() {
    @Override
    public Mono<Page> page(QueryStringDecoder target, boolean forPeople) {
      return Mono.just(Page.plain("page of " + target.path()));
    }

    @Override
    public Mono<Page> state() {
      return Mono.just(Page.json("{\"state\":\"ready\"}"));
    }
  };

  @TempDir
  Path folder;

  private final LoopResources loops = LoopResources.create("admin-strangers", 1, true);
  private AdminOptions options =
      AdminOptions.defaults().withNames(Set.of("node7.example.org", "*.svc.local")).withBounds(4, SOON);
  private final List<Socket> sockets = new ArrayList<>();
  private @Nullable DisposableServer server;
  private AdminConnections connections = new AdminConnections(1);

  @AfterEach
  void close() throws IOException {
    for (Socket socket : sockets) {
      socket.close();
    }
    if (server != null) {
      Eventually.holds("no connection is left", () -> connections.count() == 0);
      server.disposeNow();
    }
    loops.disposeLater(Duration.ZERO, SOON).block(SOON);
  }

  private Socket connect() throws IOException {
    if (server == null) {
      connections = new AdminConnections(options.connections());
      AdminGate gate = new AdminGate(options, PAGES, Schedulers.immediate(), Schedulers.immediate());
      server = TcpServer.create().runOn(loops).bindAddress(() -> new InetSocketAddress("127.0.0.1", 0))
          .childOption(ChannelOption.AUTO_READ, false)
          .doOnConnection(connection -> AdminConnection.accept(connection, gate, connections)).bindNow();
    }
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
    sockets.add(socket);
    return socket;
  }

  private String ask(String request) throws IOException {
    Socket socket = connect();
    socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
    return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }

  private String get(String path, String headers) throws IOException {
    return ask("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "Host: 127.0.0.1:7780|200", "Host: 127.0.0.1|200", "Host: [::1]:7780|200", "Host: LOCALHOST.:80|200",
    "Host: Node7.example.org|200", "Host: penstock-0.svc.local:7780|200",
    "Host: evil.example.org|421", "Host: evil.svc.local.example.org|421", "Host: localhost.example.org|421",
    "Host: 203.0.113.9|200", "Host: 127.0.0.1.example.org|421", "Host: node7.example.org@evil.org|400",
    "Host: localhost, evil.example.org|400", "Host:|400", "X: y|400",
    "Host: localhost\\r\\nHost: evil.example.org|400", "Host: evil.example.org\\r\\nHost: localhost|400",
    "Host: localhost\\r\\nX: a\\r\\n b|400", "Host : localhost|400",
    "Host: localhost\\r\\nOrigin: http://localhost|200", "Host: localhost\\r\\nOrigin: http://evil.example.org|403",
    "Host: localhost\\r\\nOrigin: null|403", "Host: localhost\\r\\nOrigin:|400",
    "Host: localhost\\r\\nContent-Length: 3|400", "Host: localhost\\r\\nTransfer-Encoding: chunked|400"})
  void headers_ofThoseWhoMayAsk_andOfOthers(String headers, String status) throws IOException {
    assertThat(ask("GET /metrics HTTP/1.1\r\n" + headers.translateEscapes() + "\r\n\r\n"))
        .startsWith("HTTP/1.1 " + status).contains("connection: close");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {"GET /health HTTP/1.0\\r\\n\\r\\n|200",
    "GET http://evil.example.org/metrics HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n|400",
    "POST /metrics HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n|405", "NOISE\\r\\n\\r\\n|400",
    "HEAD /metrics HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n|200"})
  void requests_ofOtherForms(String request, String status) throws IOException {
    assertThat(ask(request.translateEscapes())).startsWith("HTTP/1.1 " + status);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "GET /metrics HTTP/1.1\r\nHost: local", "GET"})
  void whoKeepsTheNodeWaiting_isClosed(String begin) throws IOException {
    options = options.withBounds(4, Duration.ofMillis(100));
    Socket slow = connect();
    slow.getOutputStream().write(begin.getBytes(StandardCharsets.US_ASCII));
    assertThat(slow.getInputStream().read()).isEqualTo(-1);
  }

  @Test
  void probe_findsAPlaceAmongSilentStrangers_andTheOldestOfThemMakesWay() throws IOException {
    for (int i = 0; i < 4; i++) {
      connect();
    }
    Eventually.holds("all are in", () -> connections.count() == 4);
    assertThat(get("/health", "")).startsWith("HTTP/1.1 200");
    assertThat(sockets.getFirst().getInputStream().read()).isEqualTo(-1);
    assertThat(connections.count()).isLessThanOrEqualTo(4);
  }

  private void users() throws IOException {
    UserFile users = UserFile.read(Files.write(folder.resolve("users"), List.of(
        UserFile.lineOf("prometheus", "token".toCharArray()), UserFile.lineOf("chat", "other".toCharArray()),
        UserFile.lineOf("alice", "secret".toCharArray(), 10, new SecureRandom()))));
    AccessRules rules = new AccessRules(Map.of("prometheus", List.of(Grant.everywhere(Role.READER)), "alice",
        List.of(Grant.everywhere(Role.ADMIN)), "chat", List.of(new Grant(Role.ADMIN, Set.of("chat")))));
    options = options.withAccess(Access.of(() -> users, () -> rules), true);
  }

  private static String basic(String pair) {
    return "Authorization: Basic " + Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8)) + "\r\n";
  }

  @Test
  void users_showCredentials_andTheStateAloneIsForAll() throws IOException {
    users();
    assertThat(get("/metrics", "")).startsWith("HTTP/1.1 401").contains("www-authenticate: Basic realm=\"penstock\"");
    assertThat(get("/metrics", "Authorization: Bearer token\r\n")).startsWith("HTTP/1.1 200").contains("page of");
    assertThat(get("/metrics", basic("alice:secret"))).startsWith("HTTP/1.1 200");
    assertThat(get("/metrics", basic("alice:guess"))).startsWith("HTTP/1.1 401");
    assertThat(get("/metrics", "Authorization: Bearer token\r\nAuthorization: Bearer token\r\n"))
        .startsWith("HTTP/1.1 400");
    assertThat(get("/metrics", "Authorization: Digest token\r\n")).startsWith("HTTP/1.1 400");
    assertThat(get("/metrics", "Authorization: Bearer other\r\n")).startsWith("HTTP/1.1 403");
    assertThat(get("/health", "")).startsWith("HTTP/1.1 200").endsWith("{\"state\":\"ready\"}\n");
    assertThat(get("/health", "Authorization: Bearer other\r\n")).endsWith("{\"state\":\"ready\"}\n");
    assertThat(get("/health", "Authorization: Bearer token\r\n")).endsWith("page of /health");
  }
}
