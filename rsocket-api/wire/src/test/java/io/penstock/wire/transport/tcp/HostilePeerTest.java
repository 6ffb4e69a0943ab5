package io.penstock.wire.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.penstock.testkit.Eventually;
import io.penstock.wire.transport.ConnectionLimits;
import io.penstock.wire.transport.TransportFailure.FrameLengthException;
import io.penstock.wire.transport.TransportFailure.SendQueueOverrunException;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.SocketAcceptor;
import io.rsocket.core.RSocketConnector;
import io.rsocket.core.RSocketServer;
import io.rsocket.frame.PayloadFrameCodec;
import io.rsocket.frame.RequestFireAndForgetFrameCodec;
import io.rsocket.frame.RequestResponseFrameCodec;
import io.rsocket.frame.RequestStreamFrameCodec;
import io.rsocket.frame.SetupFrameCodec;
import io.rsocket.frame.decoder.PayloadDecoder;
import io.rsocket.util.ByteBufPayload;
import io.rsocket.util.DefaultPayload;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Plain sockets that cut, lie and babble; afterwards nothing is held and the next connection works.
@Timeout(120)
class HostilePeerTest {
  private final TcpPair pair = new TcpPair();
  private final AtomicLong handled = new AtomicLong();

  @AfterEach
  void nothingIsHeld() {
    pair.close();
  }

  @Test
  void clientCut_atAnyByte_leaksNothing() throws IOException {
    TcpListener server = serve();
    for (int seed = 0; seed < 150; seed++) {
      Random random = new Random(seed);
      byte[] talk = talk(random);
      int cut = random.nextInt(talk.length + 1);
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
        if (random.nextBoolean()) {
          socket.setSoLinger(true, 0); // a reset instead of an orderly end
        }
        write(socket.getOutputStream(), talk, cut, random);
        if (random.nextBoolean()) {
          readSome(socket, random);
        }
      }
      gone(server, "seed " + seed + ", cut at " + cut);
      pair.assertAllReturned();
    }
    assertThat(handled.get()).isPositive();
    stillServes(server);
  }

  @Test
  void serverCut_atAnyByte_leaksNothing() throws Exception {
    for (int seed = 0; seed < 60; seed++) {
      Random random = new Random(seed);
      try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
        RSocket client = connect(listening.getLocalPort());
        Disposable stream = client.requestStream(DefaultPayload.create("all"))
            .doOnDiscard(Payload.class, Payload::release).subscribe(Payload::release, failed -> {});
        try (Socket socket = listening.accept()) {
          byte[] answers = answers(random);
          write(socket.getOutputStream(), answers, random.nextInt(answers.length + 1), random);
        }
        client.onClose().onErrorComplete().block(TcpPair.PATIENCE);
        stream.dispose();
      }
      pair.assertAllReturned();
    }
  }

  @Test
  void lengths_thatNoFrameHas_areNamedToThePeerAndEndOnlyThatConnection() throws IOException {
    pair.limits = ConnectionLimits.defaults().withMaxFrameBytes(1 << 20);
    TcpListener server = serve();
    for (int length : new int[] {0, 1, 5, (1 << 20) + 1, 0xFF_FFFF}) {
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
        socket.getOutputStream()
            .write(new byte[] {(byte) (length >> 16), (byte) (length >> 8), (byte) length, 1, 2, 3});
        socket.getOutputStream().flush();
        byte[] error = socket.getInputStream().readAllBytes();
        assertThat(new String(error, StandardCharsets.UTF_8))
            .endsWith("frame length must be in [6, 1048576] (was " + length + ")");
      }
      gone(server, "length " + length);
    }
    assertThat(pair.causes).hasSize(5).allMatch(cause -> cause instanceof FrameLengthException);
    stillServes(server);
  }

  @Test
  void strangers_thatSpeakAnotherProtocol_areToldFromAMistake() throws IOException {
    pair.limits = ConnectionLimits.defaults().withMaxFrameBytes(1 << 20);
    TcpListener server = serve();
    byte[][] talks = {"GET / HTTP/1.1\r\nHost: node\r\n\r\n".getBytes(StandardCharsets.US_ASCII),
      {0x16, 3, 1, 2, 0, 1, 0, 1, (byte) 0xFC, 3, 3}, "SSH-2.0-scan\r\n".getBytes(StandardCharsets.US_ASCII)};
    for (byte[] talk : talks) {
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
        socket.getOutputStream().write(talk);
        socket.getInputStream().readAllBytes();
      }
    }
    gone(server, "strangers");
    assertThat(pair.causes).extracting(Throwable::getMessage).satisfiesExactlyInAnyOrder(
        first -> assertThat(first).endsWith(", the beginning of HTTP)"),
        second -> assertThat(second).startsWith("connection must begin without TLS"),
        third -> assertThat(third).endsWith(", the beginning of SSH)"));
  }

  @Test
  void floodOfGarbage_isNotReadToItsEnd() throws IOException {
    pair.limits = ConnectionLimits.defaults().withMaxFrameBytes(1 << 20);
    TcpListener server = serve();
    byte[] garbage = new byte[1 << 20];
    long written = 0;
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      for (OutputStream out = socket.getOutputStream(); written < 1L << 30; written += garbage.length) {
        out.write(garbage);
      }
    } catch (IOException closedByTheServer) {
      assertThat(closedByTheServer).hasMessageMatching("(?i).*(reset|broken pipe|closed|abort).*");
    }
    gone(server, "the flood");
    assertThat(written).isLessThan(64L << 20);
    assertThat(pair.causes).hasSize(1).hasOnlyElementsOfType(FrameLengthException.class);
    stillServes(server);
  }

  @Test
  void garbage_neverEndsMoreThanItsOwnConnection() throws IOException {
    TcpListener server = serve();
    for (int seed = 0; seed < 300; seed++) {
      Random random = new Random(seed);
      byte[] talk = seed % 3 == 0 ? noise(random) : mutated(talk(random), random);
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
        write(socket.getOutputStream(), talk, talk.length, random);
        socket.shutdownOutput();
        drain(socket);
      } catch (IOException closedByTheServer) {
        assertThat(closedByTheServer).as("seed %d", seed)
            .hasMessageMatching("(?i).*(reset|broken pipe|closed|abort).*");
      }
      gone(server, "seed " + seed);
    }
    stillServes(server);
  }

  @Test
  void slowReader_withCredit_boundsWhatWaits() throws IOException {
    pair.limits = ConnectionLimits.defaults().withMaxQueuedBytes(32L << 20);
    TcpListener server = serve();
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      OutputStream out = socket.getOutputStream();
      send(out, setup());
      send(out,
          RequestStreamFrameCodec.encode(ByteBufAllocator.DEFAULT, 1, false, 16, null, Unpooled.copyInt(1 << 20)));
      out.flush();
      InputStream in = socket.getInputStream();
      for (int left = 16 << 20; left > 0;) { // all sixteen, at the pace of small reads
        left -= in.readNBytes(Math.min(left, 40_000)).length;
      }
    }
    gone(server, "slow reader");
    assertThat(pair.peakQueuedBytes.get()).isPositive().isLessThanOrEqualTo(16L * ((1 << 20) + 64));
    assertThat(pair.causes).noneMatch(cause -> cause instanceof SendQueueOverrunException);
  }

  @Test
  void endlessCredit_unread_closesThatConnectionOnly() throws IOException {
    pair.limits = ConnectionLimits.defaults().withMaxFrameBytes(1 << 20).withMaxQueuedBytes(8L << 20)
        .withCloseGrace(Duration.ofMillis(200));
    TcpListener server = serve();
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      OutputStream out = socket.getOutputStream();
      send(out, setup());
      send(
          out, RequestStreamFrameCodec.encode(ByteBufAllocator.DEFAULT, 1, false, Integer.MAX_VALUE, null,
              Unpooled.copyInt(65_536)));
      out.flush();
      Eventually.holds("the server gave up",
          () -> pair.causes.stream().anyMatch(c -> c instanceof SendQueueOverrunException));
      gone(server, "endless credit");
    }
    stillServes(server);
  }

  private TcpListener serve() {
    return pair.listen(acceptor().asConnectionAcceptor(pair.limits.maxFrameBytes()));
  }

  private RSocketServer acceptor() {
    return RSocketServer.create(SocketAcceptor.with(new Handler())).payloadDecoder(PayloadDecoder.ZERO_COPY);
  }

  private RSocket connect(int port) {
    return RSocketConnector.create().payloadDecoder(PayloadDecoder.ZERO_COPY).connect(pair.client(port))
        .block(TcpPair.PATIENCE);
  }

  private void stillServes(TcpListener server) {
    RSocket client = connect(server.port());
    Payload echo = client.requestResponse(DefaultPayload.create("alive")).block(TcpPair.PATIENCE);
    assertThat(echo.getDataUtf8()).isEqualTo("alive");
    echo.release();
    client.dispose();
    client.onClose().onErrorComplete().block(TcpPair.PATIENCE);
  }

  private static void gone(TcpListener server, String what) {
    Eventually.holds("the server let go: " + what, () -> server.connections() == 0);
  }

  private static byte[] talk(Random random) {
    ByteBuf talk = Unpooled.buffer();
    add(talk, setup());
    for (int i = 0; i < 12; i++) {
      int stream = 2 * i + 1;
      ByteBuf data = Unpooled.wrappedBuffer(new byte[random.nextInt(1 << random.nextInt(1, 18))]);
      add(talk, switch (random.nextInt(3)) {
        case 0 -> RequestFireAndForgetFrameCodec.encode(ByteBufAllocator.DEFAULT, stream, false, null, data);
        case 1 -> RequestResponseFrameCodec.encode(ByteBufAllocator.DEFAULT, stream, false, null, data);
        default ->
          RequestStreamFrameCodec.encode(ByteBufAllocator.DEFAULT, stream, false, 5, null,
              Unpooled.copyInt(random.nextInt(1, 100_000)));
      });
    }
    return take(talk);
  }

  private static byte[] answers(Random random) {
    ByteBuf answers = Unpooled.buffer();
    for (int i = 0; i < 12; i++) {
      add(answers, PayloadFrameCodec.encode(
          ByteBufAllocator.DEFAULT, 1, false, false, true, null,
          Unpooled.wrappedBuffer(new byte[random.nextInt(1 << random.nextInt(1, 18))])));
    }
    return take(answers);
  }

  private static byte[] noise(Random random) {
    byte[] noise = new byte[1 + random.nextInt(4_000)];
    random.nextBytes(noise);
    return noise;
  }

  private static byte[] mutated(byte[] talk, Random random) {
    for (int i = random.nextInt(1, 20); i > 0; i--) {
      talk[random.nextInt(talk.length)] = (byte) random.nextInt();
    }
    return talk;
  }

  private static ByteBuf setup() {
    return SetupFrameCodec.encode(
        ByteBufAllocator.DEFAULT, false, 20_000, 90_000, Unpooled.EMPTY_BUFFER, "a/b", "a/b",
        DefaultPayload.create("hi"));
  }

  private static void add(ByteBuf talk, ByteBuf frame) {
    talk.writeMedium(frame.readableBytes()).writeBytes(frame);
    frame.release();
  }

  private static byte[] take(ByteBuf buffer) {
    byte[] bytes = ByteBufUtil.getBytes(buffer);
    buffer.release();
    return bytes;
  }

  private static void send(OutputStream out, ByteBuf frame) throws IOException {
    ByteBuf framed = Unpooled.buffer();
    add(framed, frame);
    out.write(take(framed));
  }

  private static void write(OutputStream out, byte[] bytes, int end, Random random) throws IOException {
    for (int at = 0; at < end;) {
      int step = Math.min(end - at, 1 + random.nextInt(1 << random.nextInt(1, 18)));
      out.write(bytes, at, step);
      at += step;
    }
    out.flush();
  }

  private static void readSome(Socket socket, Random random) throws IOException {
    socket.setSoTimeout(20);
    try {
      socket.getInputStream().readNBytes(random.nextInt(200_000));
    } catch (SocketTimeoutException nothingMore) {
      assertThat(nothingMore).isNotNull();
    }
  }

  private static void drain(Socket socket) throws IOException {
    socket.setSoTimeout(10_000);
    socket.getInputStream().transferTo(OutputStream.nullOutputStream());
  }

  /// Answers with what it got; a stream answers with frames of the size asked for.
  private final class Handler implements RSocket {
    @Override
    public Mono<Void> fireAndForget(Payload payload) {
      handled.incrementAndGet();
      payload.release();
      return Mono.empty();
    }

    @Override
    public Mono<Payload> requestResponse(Payload payload) {
      handled.incrementAndGet();
      return Mono.just(payload);
    }

    @Override
    public Flux<Payload> requestStream(Payload payload) {
      handled.incrementAndGet();
      ByteBuf data = payload.sliceData();
      int size = data.readableBytes() < 4 ? 1 : Math.floorMod(data.readInt(), (1 << 20) + 1);
      payload.release();
      return Flux.generate(sink -> sink.next(ByteBufPayload.create(pair.zeros(size))));
    }
  }
}
