package io.penstock.wire.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.testkit.Eventually;
import io.penstock.wire.transport.ReceiveLimits;
import io.penstock.wire.transport.Refusal;
import io.penstock.wire.transport.TransportFailure.RefusedPeerException;
import io.penstock.wire.transport.frame.FrameReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Plain sockets at the port of a WebSocket: what a browser sends, and what no client may.
@Timeout(60)
final class HostileWebSocketTest {
  private static final int FIN = 0x80;
  private static final int BINARY = 2;
  private static final int PING = 9;
  private static final int CLOSE = 8;

  private final TcpPair pair = new TcpPair();
  private final Random random = new Random(11);

  @AfterEach
  void nothingIsHeld() {
    pair.close();
  }

  private TcpListener listen() {
    TcpServerOptions options = TcpServerOptions.on("127.0.0.1", 0).withLimits(pair.limits).withSlots(pair.slots)
        .withReceive(pair.receive);
    return pair.listen(TcpTransport.server(options, WebSocketFraming.ofServer(Set.of("https://chat.example.org")),
        pair.loops, pair.listener, pair.ledger), pair::collect);
  }

  @Test
  void messages_masked_inParts_withPingsBetween_areWholeFrames() throws IOException {
    TcpListener server = listen();
    try (Socket browser = open(server, "Origin: https://chat.example.org\r\n")) {
      FrameReader reader = FrameReader.unbounded(pair.accepted(0));
      byte[] whole = TransportContract.bytes(70_001, 1);
      byte[] parts = TransportContract.bytes(9_000, 2);
      ByteArrayOutputStream sent = new ByteArrayOutputStream();
      sent.write(message(FIN | BINARY, whole, 0, whole.length));
      sent.write(message(BINARY, parts, 0, 1_000));
      sent.write(message(FIN | PING, "hello".getBytes(StandardCharsets.US_ASCII), 0, 5));
      sent.write(message(0, parts, 1_000, 1_000));
      sent.write(message(0, parts, 1_000, 6_000));
      sent.write(message(FIN, parts, 6_000, 9_000));
      trickle(browser.getOutputStream(), sent.toByteArray());

      Eventually.holds("both came", () -> reader.count.get() == 2);
      assertThat(reader.frames.get(0)).isEqualTo(whole);
      assertThat(reader.frames.get(1)).isEqualTo(parts);
      assertThat(browser.getInputStream().readNBytes(7))
          .isEqualTo(new byte[] {(byte) 0x8A, 5, 'h', 'e', 'l', 'l', 'o'});

      browser.getOutputStream().write(message(FIN | CLOSE, new byte[] {3, (byte) 0xE9}, 0, 2));
      assertThat(browser.getInputStream().readAllBytes()).isEqualTo(new byte[] {(byte) 0x88, 2, 3, (byte) 0xE9});
      Eventually.holds("it ended in order", () -> reader.completed);
    }
    assertThat(pair.causes).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "GET /other HTTP/1.1\\r\\n\\r\\n|404 Not Found",
    "GET /penstock HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n|426 Upgrade Required",
    "POST /penstock HTTP/1.1\\r\\nContent-Length: 0\\r\\n\\r\\n|426 Upgrade Required",
    "NOISE\\r\\n\\r\\n|400 Bad Request"})
  void requests_forNoWebSocket_getAStatusAndTheEnd(String request, String status) throws IOException {
    TcpListener server = listen();
    try (Socket stranger = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      stranger.getOutputStream().write(request.translateEscapes().getBytes(StandardCharsets.ISO_8859_1));
      assertThat(new String(stranger.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
          .startsWith("HTTP/1.1 " + status);
    }
    refused(server, Refusal.UPGRADE);
  }

  @Test
  void page_ofAnotherOrigin_isRefused() throws IOException {
    TcpListener server = listen();
    try (Socket browser = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      browser.getOutputStream().write(upgrade("Origin: https://evil.example.org\r\n"));
      assertThat(new String(browser.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
          .startsWith("HTTP/1.1 403 Forbidden");
    }
    refused(server, Refusal.UPGRADE);
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "Origin: https://chat.example.org\\r\\nOrigin: https://evil.example.org|400 Bad Request",
    "Origin: https://evil.example.org\\r\\nOrigin: https://chat.example.org|400 Bad Request",
    "Origin: https://chat.example.org\\r\\nOrigin: https://chat.example.org|400 Bad Request",
    "Origin:|400 Bad Request",
    "Origin: \\r\\nOrigin: https://evil.example.org|400 Bad Request",
    "Origin: https://chat.example.org, https://evil.example.org|403 Forbidden",
    "Origin: null|403 Forbidden",
    "Origin: https://chat.example.org.evil.org|403 Forbidden",
    "Origin:\\r\\n https://chat.example.org|400 Bad Request",
    "Origin : https://chat.example.org|400 Bad Request",
    "X-Other: a\\r\\n\\tb|400 Bad Request",
    "Host: evil.example.org|400 Bad Request",
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==|400 Bad Request",
    "Sec-WebSocket-Version: 8|400 Bad Request",
    "Content-Length: 5|400 Bad Request",
    "Transfer-Encoding: identity|400 Bad Request"})
  void upgrade_thatTwoReadersMayReadDifferently_isRefused(String header, String status) throws IOException {
    TcpListener server = listen();
    try (Socket browser = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      browser.getOutputStream().write(upgrade(header.translateEscapes() + "\r\n"));
      assertThat(new String(browser.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
          .startsWith("HTTP/1.1 " + status);
    }
    refused(server, Refusal.UPGRADE);
  }

  @ParameterizedTest
  @ValueSource(strings = {"text", "unmasked", "extension", "long control", "continuation", "long parts"})
  void messages_thatNoClientMaySend_endTheConnection(String what) throws IOException {
    TcpListener server = listen();
    try (Socket stranger = open(server, "")) {
      FrameReader.unbounded(pair.accepted(0));
      byte[] bytes = new byte[WebSocketFrames.MOST_IN_PARTS + 1];
      stranger.getOutputStream().write(switch (what) {
        case "text" -> message(FIN | 1, bytes, 0, 10);
        case "unmasked" -> new byte[] {(byte) 0x82, 1, 1};
        case "extension" -> message(FIN | 0x40 | BINARY, bytes, 0, 10);
        case "long control" -> message(FIN | PING, bytes, 0, 126);
        case "continuation" -> message(FIN, bytes, 0, 10);
        default -> message(BINARY, bytes, 0, bytes.length);
      });
      stranger.getInputStream().readAllBytes();
    }
    refused(server, Refusal.WEB_SOCKET);
  }

  @Test
  void closes_haveOneAnswer_howeverManyCome() throws IOException {
    TcpListener server = listen();
    try (Socket stranger = open(server, "")) {
      FrameReader reader = FrameReader.unbounded(pair.accepted(0));
      ByteArrayOutputStream sent = new ByteArrayOutputStream();
      for (int i = 0; i < 100; i++) {
        sent.write(message(FIN | CLOSE, new byte[] {3, (byte) 0xE9}, 0, 2));
      }
      stranger.getOutputStream().write(sent.toByteArray());
      assertThat(stranger.getInputStream().readAllBytes()).isEqualTo(new byte[] {(byte) 0x88, 2, 3, (byte) 0xE9});
      Eventually.holds("it ended in order", () -> reader.completed);
    }
    assertThat(pair.causes).isEmpty();
  }

  @Test
  void message_beforeSetup_isAsShortAsAFrame() throws IOException {
    pair.receive = ReceiveLimits.defaults();
    TcpListener server = listen();
    try (Socket stranger = open(server, "")) {
      FrameReader.unbounded(pair.accepted(0));
      ByteBuffer header = ByteBuffer.allocate(14).put((byte) 0x82).put((byte) 0xFF).putLong(65_537).putInt(0);
      stranger.getOutputStream().write(header.array());
      stranger.getInputStream().readAllBytes();
    }
    refused(server, Refusal.FRAME_LENGTH);
  }

  @Test
  void nodeThatDoesNotAnswer_isGivenUpAfterTheTimeToConnect() throws IOException {
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      TcpClientOptions options = TcpClientOptions.to("127.0.0.1", silent.getLocalPort())
          .withConnectTimeout(Duration.ofMillis(100));
      assertThatThrownBy(() -> TcpTransport.client(options, TcpTransport.webSocketTo(options), pair.loops,
          pair.listener, pair.ledger).connect().block(TcpPair.PATIENCE))
          .hasMessageContaining("node must agree to a WebSocket within 100 ms (was silent)");
    }
  }

  private void refused(TcpListener server, Refusal reason) {
    Eventually.holds("it is gone", () -> server.connections() == 0 && !pair.causes.isEmpty());
    assertThat(pair.causes).hasSize(1).first().isInstanceOfSatisfying(RefusedPeerException.class,
        refused -> assertThat(refused.reason()).isEqualTo(reason));
  }

  private Socket open(TcpListener server, String headers) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
    socket.getOutputStream().write(upgrade(headers));
    InputStream in = socket.getInputStream();
    StringBuilder answer = new StringBuilder();
    while (answer.indexOf("\r\n\r\n") < 0) {
      answer.append((char) in.read());
    }
    // RFC 6455, section 1.3
    assertThat(answer).startsWith("HTTP/1.1 101 ").contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n");
    return socket;
  }

  private static byte[] upgrade(String headers) {
    return ("GET /penstock HTTP/1.1\r\nHost: node\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n" + headers + "\r\n")
        .getBytes(StandardCharsets.US_ASCII);
  }

  /// A masked part of a message, as a browser sends it.
  private byte[] message(int first, byte[] bytes, int from, int to) {
    int size = to - from;
    ByteBuffer message = ByteBuffer.allocate(14 + size).put((byte) first);
    if (size < 126) {
      message.put((byte) (0x80 | size));
    } else if (size < 1 << 16) {
      message.put((byte) (0x80 | 126)).putShort((short) size);
    } else {
      message.put((byte) (0x80 | 127)).putLong(size);
    }
    byte[] mask = new byte[4];
    random.nextBytes(mask);
    message.put(mask);
    for (int i = 0; i < size; i++) {
      message.put((byte) (bytes[from + i] ^ mask[i % 4]));
    }
    byte[] sent = new byte[message.position()];
    message.flip().get(sent);
    return sent;
  }

  private void trickle(OutputStream out, byte[] bytes) throws IOException {
    for (int at = 0; at < bytes.length;) {
      int step = Math.min(bytes.length - at, 1 + random.nextInt(1 << random.nextInt(1, 15)));
      out.write(bytes, at, step);
      out.flush();
      at += step;
    }
  }
}
