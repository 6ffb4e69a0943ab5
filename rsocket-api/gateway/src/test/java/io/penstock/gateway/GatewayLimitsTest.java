package io.penstock.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOption;
import io.penstock.node.setting.Setting;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerResponse;

/// Clients that are slow, many, or strange, over sockets.
@Timeout(30)
final class GatewayLimitsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final int EVENT = 64 << 10;
  private static final int CONNECTIONS = 6;
  private static final int STEP = 1 << 20;
  /// Far more than sockets buffer.
  private static final int WHOLE = 24 * STEP;
  private static final String HEAD =
      "POST /v1/completions HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n";

  private final AtomicInteger events = new AtomicInteger();
  private final Sinks.Empty<Void> cancelled = Sinks.empty();
  /// An engine that never stops.
  private final DisposableServer engine = HttpServer.create().host("127.0.0.1").port(0)
      .childOption(ChannelOption.SO_SNDBUF, EVENT).route(routes -> routes
          .get("/v1/models", (request, response) -> response.sendString(Mono.just("{\"data\":[]}")))
          .post("/v1/completions", (request, response) -> request.receive().aggregate().asString()
              .flatMapMany(body -> body.contains("stream") ? endless(response) : whole(response))))
      .bindNow();
  private @TempDir Path folder;
  private final List<Socket> sockets = new ArrayList<>();

  @AfterEach
  void close() throws IOException {
    for (Socket socket : sockets) {
      socket.close();
    }
    engine.disposeNow();
  }

  private Publisher<Void> endless(HttpServerResponse response) {
    return response.header("Content-Type", "text/event-stream")
        .send(Mono.just("data: {\"a\":\"" + "x".repeat(EVENT) + "\"}\n\n").repeat()
            .doOnNext(event -> events.incrementAndGet()).doOnCancel(cancelled::tryEmitEmpty)
            .map(event -> Unpooled.copiedBuffer(event, UTF_8)), each -> true);
  }

  private static Publisher<Void> whole(HttpServerResponse response) {
    return response.header("Content-Type", "application/json")
        .sendString(Mono.just("{\"a\":\"" + "x".repeat(WHOLE) + "\"}"));
  }

  private Gateway gateway(Map<Setting<?>, String> more) throws IOException {
    Map<Setting<?>, String> flags = new HashMap<>(Map.of(GatewaySettings.PORT, "0",
        GatewaySettings.ADMIN_PORT, "off", GatewaySettings.BOTH, "http://127.0.0.1:" + engine.port(),
        GatewaySettings.BODY_TIMEOUT, "150ms", GatewaySettings.SEND_TIMEOUT, "300ms", GatewaySettings.RESUMES, "0",
        GatewaySettings.CONNECTIONS, String.valueOf(CONNECTIONS)));
    flags.putAll(more);
    return Gateway.start(GatewayConfig.resolve(null, Map.of(), flags));
  }

  /// Waits for the first probe, which takes some milliseconds.
  private void awaitReady(Gateway gateway) throws IOException {
    String answer = "";
    while (!answer.startsWith("HTTP/1.1 200 ")) {
      try (Socket socket = connect(gateway)) {
        write(socket, "GET /health HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
        answer = answer(socket);
      }
    }
  }

  private Socket connect(Gateway gateway) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), URI.create(gateway.url()).getPort());
    socket.setSoTimeout((int) PATIENCE.toMillis());
    sockets.add(socket);
    return socket;
  }

  private static void write(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(UTF_8));
  }

  /// All that comes until the connection ends.
  private static String rest(Socket socket) throws IOException {
    return new String(socket.getInputStream().readAllBytes(), UTF_8);
  }

  @Test
  void headsAndBodiesThatComeSlowly_areCutOff() throws Exception {
    try (Gateway gateway = gateway(Map.of())) {
      Socket silent = connect(gateway);
      Socket slowHead = connect(gateway);
      write(slowHead, "POST /v1/completions HTTP/1.1\r\nHo");
      Socket slowBody = connect(gateway);
      write(slowBody, HEAD.formatted(100) + "{\"prompt\"");
      Socket other = connect(gateway);
      write(other, "GET /health HTTP/1.1\r\nHost: h\r\n\r\n");
      assertThat(rest(silent)).isEmpty();
      assertThat(rest(slowHead)).startsWith("HTTP/1.1 408 ");
      assertThat(rest(slowBody)).startsWith("HTTP/1.1 408 ").contains("time of a body must be at most 150 ms");
      write(other, "OPTIONS /v1/completions HTTP/1.1\r\nHost: h\r\nOrigin: http://o\r\nConnection: close\r\n"
          + "Access-Control-Request-Method: POST\r\n\r\n");
      String answers = rest(other).toLowerCase(Locale.ROOT);
      assertThat(answers).as("a connection is no slower for having waited").startsWith("http/1.1 ")
          .contains("http/1.1 405 ").doesNotContain("access-control-");
    }
  }

  @Test
  void connectionsBeyondTheLimit_areClosed() throws Exception {
    try (Gateway gateway = gateway(Map.of(GatewaySettings.BODY_TIMEOUT, "60s"))) {
      for (int i = 0; i < CONNECTIONS; i++) {
        Socket socket = connect(gateway);
        write(socket, "GET /health HTTP/1.1\r\nHost: h\r\n\r\n");
        assertThat(socket.getInputStream().read()).isEqualTo('H');
      }
      assertThat(answer(connect(gateway))).as("closed, and not after a time").isEmpty();
      sockets.removeFirst().close();
      String answer = "";
      while (answer.isEmpty()) { // the gateway sees the end of the first a moment later
        Socket next = connect(gateway);
        write(next, "GET /health HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
        answer = answer(next);
      }
      assertThat(answer).startsWith("HTTP/1.1 ");
    }
  }

  /// Empty if the connection was refused.
  private static String answer(Socket socket) {
    try {
      return rest(socket);
    } catch (SocketTimeoutException e) {
      throw new AssertionError("the connection must end", e);
    } catch (IOException e) {
      return "";
    }
  }

  @Test
  void aClientThatDoesNotRead_stopsItsEngine_andIsClosedInTheEnd() throws Exception {
    try (Gateway gateway = gateway(Map.of())) {
      awaitReady(gateway);
      String body = "{\"prompt\":\"x\",\"stream\":true}";
      Socket client = new Socket();
      sockets.add(client);
      client.setSoTimeout((int) PATIENCE.toMillis());
      client.setReceiveBufferSize(16 << 10);
      client.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(),
          URI.create(gateway.url()).getPort()));
      write(client, HEAD.formatted(body.length()) + body);
      InputStream answer = client.getInputStream();
      assertThat(new String(answer.readNBytes(1024), UTF_8)).contains("xxxx"); // no more is read
      cancelled.asMono().block(PATIENCE);
      assertThat((long) events.get() * EVENT).as("bytes that the engine could send").isLessThan(64 << 20);
      assertThat(gateway.drain()).isTrue();
    }
  }

  /// Reads 1 MiB at each step, as a slow client does.
  ///
  /// @param found is added to if an answer of another request is in it
  private static long readSlowly(InputStream answer, Duration step, int steps, List<String> found) {
    return requireNonNull(Flux.interval(step).onBackpressureBuffer().take(steps).map(i -> {
      try {
        byte[] read = answer.readNBytes(STEP);
        String text = new String(read, UTF_8);
        if (text.contains("Request Timeout")) {
          found.add(text);
        }
        return (long) read.length;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }).reduce(Long::sum).block(PATIENCE));
  }

  @Test
  void aClientThatReadsSlowly_getsAllOfALargeAnswer() throws Exception {
    try (Gateway gateway = gateway(Map.of())) {
      awaitReady(gateway);
      Socket client = new Socket();
      sockets.add(client);
      client.setReceiveBufferSize(64 << 10);
      client.setSoTimeout((int) PATIENCE.toMillis());
      client.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), URI.create(gateway.url()).getPort()));
      String body = "{\"prompt\":\"x\"}";
      write(client, HEAD.formatted(body.length()) + body);
      InputStream answer = client.getInputStream();
      assertThat(new String(answer.readNBytes(15), UTF_8)).isEqualTo("HTTP/1.1 200 OK");

      long read = readSlowly(answer, Duration.ofMillis(40), WHOLE / STEP, new ArrayList<>());

      assertThat(read).as("bytes that came in three times the limit").isEqualTo(WHOLE);
    }
  }

  @Test
  void bytesBehindARequest_doNotBreakItsAnswer() throws Exception {
    try (Gateway gateway = gateway(Map.of())) {
      awaitReady(gateway);
      String body = "{\"prompt\":\"x\",\"stream\":true}";
      Socket client = connect(gateway);
      write(client, HEAD.formatted(body.length()) + body);
      InputStream answer = client.getInputStream();
      assertThat(new String(answer.readNBytes(15), UTF_8)).isEqualTo("HTTP/1.1 200 OK");
      write(client, "\r\nGET /hea");
      List<String> found = new ArrayList<>();

      long read = readSlowly(answer, Duration.ofMillis(20), 20, found);

      assertThat(found).isEmpty();
      assertThat(read).as("bytes that came in twice the limit of a head").isEqualTo(20L * STEP);
    }
  }

  @Test
  void thePoolsPassword_isReadByItsOwnerAlone() throws Exception {
    Path password = Files.writeString(folder.resolve("password"), "p".repeat(32) + "\n");
    Files.setPosixFilePermissions(password, PosixFilePermissions.fromString("rw-r--r--"));
    assertThatThrownBy(() -> gateway(Map.of(GatewaySettings.POOL, "127.0.0.1:1", GatewaySettings.POOL_PASSWORD,
        password.toString())).close()).isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("pool.password.file must be closed to other users");
  }

  @Test
  void theTokensFile_isReadByItsOwnerAlone() throws Exception {
    Path token = Files.writeString(folder.resolve("token"), "t".repeat(32) + "\n");
    Map<Setting<?>, String> flags =
        Map.of(GatewaySettings.ADMIN_PORT, "0", GatewaySettings.ADMIN_TOKEN, token.toString());
    for (String open : List.of("rw-r--r--", "rw----rw-", "rw------x")) {
      Files.setPosixFilePermissions(token, PosixFilePermissions.fromString(open));
      assertThatThrownBy(() -> gateway(flags).close()).isInstanceOf(IllegalArgumentException.class).hasMessage(
          "admin.token.file must be closed to other users, rw------- for example (was %s: %s)".formatted(open, token));
    }
    Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-------"));
    gateway(flags).close();
    if (Files.getAttribute(token, "unix:uid").equals(0)) { // only root can give a file away
      Files.setAttribute(token, "unix:uid", 4242);
      assertThatThrownBy(() -> gateway(flags).close()).hasMessageStartingWith(
          "admin.token.file must be owned by the user of this process, or by root (was owned by ");
    }
  }
}
