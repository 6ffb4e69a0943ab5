package io.penstock.wire.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.penstock.wire.transport.ConnectionLimits;
import io.rsocket.Closeable;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.SocketAcceptor;
import io.rsocket.core.RSocketConnector;
import io.rsocket.core.RSocketServer;
import io.rsocket.frame.decoder.PayloadDecoder;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.ServerTransport;
import io.rsocket.transport.netty.client.TcpClientTransport;
import io.rsocket.transport.netty.server.CloseableChannel;
import io.rsocket.transport.netty.server.TcpServerTransport;
import io.rsocket.util.ByteBufPayload;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;
import reactor.netty.tcp.TcpClient;
import reactor.netty.tcp.TcpServer;
import reactor.test.StepVerifier;

/// RSocket itself over our sockets, and over ours on one side with the stock transport on the other.
@Timeout(60)
class TcpRSocketTest {
  /// RSocket core counts the length header and a request's own header into the frame length.
  private static final int LONGEST_PAYLOAD = ConnectionLimits.LONGEST_FRAME - 9;
  private static final int[] SIZES = {
    1, 2, 3, 100, 4_095, 65_535, 65_536, 65_537, 262_144, (1 << 20) - 1, (1 << 20) + 1, 5_000_011, LONGEST_PAYLOAD
  };

  private final AtomicLong produced = new AtomicLong();

  @Test
  void echo_ofManySizes_returnsTheSameBytes() {
    try (TcpPair pair = new TcpPair()) {
      RSocket client = connect(pair.client(serve(pair, pair.server())));
      echoes(pair, client);
      hangUp(client);
    }
  }

  @Test
  void echo_stockClientToOurServer_returnsTheSameBytes() {
    try (TcpPair pair = new TcpPair()) {
      TcpListener server = serve(pair, pair.server());
      TcpClient tcp =
          TcpClient.create(ConnectionProvider.newConnection()).runOn(pair.loops).host("127.0.0.1").port(server.port());
      RSocket client = connect(TcpClientTransport.create(tcp));
      echoes(pair, client);
      streams(client);
      hangUp(client);
    }
  }

  @Test
  void echo_ourClientToStockServer_returnsTheSameBytes() {
    try (TcpPair pair = new TcpPair()) {
      TcpServer tcp = TcpServer.create().runOn(pair.loops).host("127.0.0.1").port(0);
      CloseableChannel server = serve(pair, TcpServerTransport.create(tcp));
      RSocket client = connect(pair.client(server.address().getPort()));
      echoes(pair, client);
      streams(client);
      hangUp(client);
      server.dispose();
      server.onClose().block(TcpPair.PATIENCE);
    }
  }

  @Test
  void echo_bothWaysAtOnce_deliversEverything() {
    try (TcpPair pair = new TcpPair()) {
      RSocket client = connect(pair.client(serve(pair, pair.server())));
      Flux<Payload> up = Flux.range(0, 200).map(i -> payload(pair, 70_000 + i, i));

      StepVerifier.create(client.requestChannel(up).map(TcpRSocketTest::sizeOf).index((i, size) -> size - i))
          .expectNextSequence(Collections.nCopies(200, 70_000L))
          .expectComplete()
          .verify(TcpPair.PATIENCE);
      hangUp(client);
    }
  }

  @Test
  void stream_exactCredit_isNeverExceeded() {
    try (TcpPair pair = new TcpPair()) {
      RSocket client = connect(pair.client(serve(pair, pair.server())));
      streams(client);
      hangUp(client);
    }
  }

  @Test
  void stream_cancelledEarlyManyTimes_leaksNothing() {
    try (TcpPair pair = new TcpPair()) {
      RSocket client = connect(pair.client(serve(pair, pair.server())));
      for (int run = 0; run < 300; run++) {
        int take = 1 + run % 7;
        Long received = client.requestStream(payload(pair, 4, 8_000)).doOnNext(Payload::release)
            .doOnDiscard(Payload.class, Payload::release).limitRate(16).take(take).count().block(TcpPair.PATIENCE);
        assertThat(received).isEqualTo(take);
      }
      hangUp(client);
    }
  }

  @Test
  void unixDomainSocket_whereNative_echoes(@TempDir Path folder) {
    Assumptions.assumeTrue(LoopResources.hasNativeSupport());
    try (TcpPair pair = new TcpPair()) {
      Path socket = folder.resolve("s");
      serve(pair,
          TcpTransport.server(TcpServerOptions.on(socket), Framing.LENGTHS, pair.loops, pair.listener, pair.ledger));
      RSocket client =
          connect(TcpTransport.client(TcpClientOptions.to(socket), Framing.LENGTHS, pair.loops, pair.listener,
              pair.ledger));
      echoes(pair, client);
      hangUp(client);
    }
  }

  private void streams(RSocket client) {
    produced.set(0);
    StepVerifier.create(client.requestStream(ByteBufPayload.create("1000")).map(TcpRSocketTest::sizeOf), 0)
        .thenRequest(5)
        .expectNextCount(5)
        .then(() -> assertThat(produced).hasValue(5))
        .thenRequest(2)
        .expectNextCount(2)
        .then(() -> assertThat(produced).hasValue(7))
        .thenCancel()
        .verify(TcpPair.PATIENCE);
  }

  private static void echoes(TcpPair pair, RSocket client) {
    for (int size : SIZES) {
      Payload echo = client.requestResponse(payload(pair, size, size)).block(TcpPair.PATIENCE);
      byte[] expected = bytes(size, size);
      ByteBuf data = echo.sliceData();
      byte[] got = new byte[data.readableBytes()];
      data.readBytes(got);
      echo.release();
      assertThat(got).as("echo of %d bytes", size).isEqualTo(expected);
    }
  }

  private static RSocket connect(ClientTransport transport) {
    return RSocketConnector.create().payloadDecoder(PayloadDecoder.ZERO_COPY).connect(transport)
        .block(TcpPair.PATIENCE);
  }

  private TcpListener serve(TcpPair pair, ServerTransport<TcpListener> transport) {
    return pair.listen(transport, server(pair).asConnectionAcceptor(transport.maxFrameLength()));
  }

  private CloseableChannel serve(TcpPair pair, TcpServerTransport transport) {
    return server(pair).bind(transport).block(TcpPair.PATIENCE);
  }

  private RSocketServer server(TcpPair pair) {
    return RSocketServer.create(SocketAcceptor.with(new Echo(pair, produced))).payloadDecoder(PayloadDecoder.ZERO_COPY);
  }

  private static void hangUp(RSocket client) {
    Closeable closing = client;
    closing.dispose();
    closing.onClose().onErrorComplete().block(TcpPair.PATIENCE);
  }

  static Payload payload(TcpPair pair, int size, int seed) {
    return ByteBufPayload.create(pair.ledger.directBuffer(size).writeBytes(bytes(size, seed)));
  }

  private static byte[] bytes(int size, int seed) {
    byte[] bytes = new byte[size];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  private static int sizeOf(Payload payload) {
    int size = payload.sliceData().readableBytes();
    payload.release();
    return size;
  }

  /// Answers with what it got; a stream answers with frames of 1,000 bytes for ever.
  private record Echo(TcpPair pair, AtomicLong produced) implements RSocket {
    @Override
    public Mono<Payload> requestResponse(Payload payload) {
      return Mono.just(payload);
    }

    @Override
    public Flux<Payload> requestStream(Payload payload) {
      payload.release();
      return Flux.generate(sink -> {
        produced.incrementAndGet();
        sink.next(TcpRSocketTest.payload(pair, 1_000, 1));
      });
    }

    @Override
    public Flux<Payload> requestChannel(Publisher<Payload> payloads) {
      return Flux.from(payloads);
    }
  }
}
