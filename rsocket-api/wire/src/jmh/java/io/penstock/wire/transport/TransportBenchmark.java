package io.penstock.wire.transport;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.WriteBufferWaterMark;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpListener;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import io.rsocket.Closeable;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.SocketAcceptor;
import io.rsocket.core.RSocketConnector;
import io.rsocket.core.RSocketServer;
import io.rsocket.frame.decoder.PayloadDecoder;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.netty.client.TcpClientTransport;
import io.rsocket.transport.netty.server.CloseableChannel;
import io.rsocket.transport.netty.server.TcpServerTransport;
import io.rsocket.util.ByteBufPayload;
import io.rsocket.util.EmptyPayload;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import reactor.core.publisher.Flux;
import reactor.netty.Connection;
import reactor.netty.DisposableServer;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;
import reactor.netty.tcp.TcpClient;
import reactor.netty.tcp.TcpServer;

/// A stream of payloads over loopback in one JVM, one event loop on each side, credit of 16 MiB; the source rotates
/// through a 256 MiB arena so that bytes come from memory, not from a cache. `score` is MiB/s. The ceiling is `netty`:
/// the same bytes written to a channel by writability, counted on the other side and dropped.
///
/// `mvn -Pjmh -pl rsocket-api/wire -am verify -Djmh.include=TransportBenchmark`
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(value = 1, jvmArgsAppend = {"-Xmx1g", "-XX:MaxDirectMemorySize=2g", "-XX:+UseParallelGC"})
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class TransportBenchmark {
  private static final int STREAM_MIB = 512;
  private static final long STREAM_BYTES = (long) STREAM_MIB << 20;
  private static final int ARENA_BYTES = 256 << 20;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @Param({"65536", "262144", "1048576"})
  int payloadBytes;

  @Param({"own", "stock", "netty"})
  String transport;

  private final LoopResources serverLoops = LoopResources.create("bench-server", 1, true);
  private final LoopResources clientLoops = LoopResources.create("bench-client", 1, true);
  private ByteBuf arena;
  private RSocket client;
  private Closeable server;
  private DisposableServer sink;
  private Connection source;
  private Drain drain;

  @Setup
  public void setup() {
    arena = Unpooled.directBuffer(ARENA_BYTES).writeZero(ARENA_BYTES);
    for (int i = 0; i < ARENA_BYTES; i += 4_096) {
      arena.setByte(i, i);
    }
    switch (transport) {
      case "own" -> own();
      case "stock" -> stock();
      default -> netty();
    }
  }

  private void own() {
    TcpListener bound =
        RSocketServer.create(acceptor()).payloadDecoder(PayloadDecoder.ZERO_COPY)
            .bind(TcpTransport.server(TcpServerOptions.on("127.0.0.1", 0), serverLoops)).block(PATIENCE);
    server = bound;
    connect(TcpTransport.client(TcpClientOptions.to("127.0.0.1", bound.port()), clientLoops));
  }

  private void stock() {
    CloseableChannel bound =
        RSocketServer.create(acceptor()).payloadDecoder(PayloadDecoder.ZERO_COPY)
            .bind(TcpServerTransport.create(TcpServer.create().runOn(serverLoops).host("127.0.0.1").port(0)))
            .block(PATIENCE);
    server = bound;
    TcpClient tcp =
        TcpClient.create(ConnectionProvider.newConnection()).runOn(clientLoops).remoteAddress(bound::address);
    connect(TcpClientTransport.create(tcp));
  }

  private void netty() {
    drain = new Drain();
    sink = TcpServer.create().runOn(serverLoops).host("127.0.0.1").port(0)
        .doOnConnection(connection -> {
          connection.channel().config().setRecvByteBufAllocator(
              new AdaptiveRecvByteBufAllocator(1 << 16, 1 << 18, 1 << 20));
          connection.addHandlerLast(drain);
          connection.channel().config().setAutoRead(true);
        }).bindNow(PATIENCE);
    source = TcpClient.create(ConnectionProvider.newConnection()).runOn(clientLoops).remoteAddress(sink::address)
        .connectNow(PATIENCE);
    source.channel().config().setWriteBufferWaterMark(new WriteBufferWaterMark(1 << 19, 1 << 20));
  }

  private void connect(ClientTransport tcp) {
    client = RSocketConnector.create().payloadDecoder(PayloadDecoder.ZERO_COPY).connect(tcp).block(PATIENCE);
  }

  private SocketAcceptor acceptor() {
    return SocketAcceptor.forRequestStream(request -> {
      request.release();
      return Flux.range(0, (int) (STREAM_BYTES / payloadBytes)).map(i -> ByteBufPayload.create(block(i)));
    });
  }

  private ByteBuf block(int index) {
    return arena.retainedSlice((int) ((long) index * payloadBytes % ARENA_BYTES), payloadBytes);
  }

  @Benchmark
  @OperationsPerInvocation(STREAM_MIB)
  public long stream(Cpu cpu) throws InterruptedException {
    cpu.streams++;
    return client == null ? throughNetty() : throughRSocket();
  }

  private long throughRSocket() {
    Long received = client.requestStream(EmptyPayload.INSTANCE)
        .limitRate(Math.max(2, (16 << 20) / payloadBytes))
        .map(TransportBenchmark::take)
        .reduce(0L, Long::sum)
        .block(PATIENCE);
    if (received == null || received != STREAM_BYTES) {
      throw new IllegalStateException("received must be " + STREAM_BYTES + " (was " + received + ")");
    }
    return received;
  }

  private static long take(Payload payload) {
    long bytes = payload.sliceData().readableBytes();
    payload.release();
    return bytes;
  }

  private long throughNetty() throws InterruptedException {
    CountDownLatch done = drain.expect(STREAM_BYTES);
    Pump pump = new Pump(this, source.channel());
    source.channel().eventLoop().execute(pump::start);
    if (!done.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
      throw new IllegalStateException("the stream must arrive within " + PATIENCE + " (was late)");
    }
    return STREAM_BYTES;
  }

  @TearDown
  public void tearDown() {
    if (client != null) {
      client.dispose();
      server.dispose();
    } else {
      source.disposeNow(PATIENCE);
      sink.disposeNow(PATIENCE);
    }
    clientLoops.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
    serverLoops.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
    arena.release();
  }

  /// Processor time of the whole process, which other work on the machine disturbs less than throughput.
  @AuxCounters(AuxCounters.Type.EVENTS)
  @State(Scope.Thread)
  public static class Cpu {
    private final ProcessHandle process = ProcessHandle.current();
    private long streams;
    private long before;

    @Setup(Level.Iteration)
    public void begin() {
      streams = 0;
      before = millis();
    }

    /// Both sides together.
    public double cpuMillisPerGib() {
      return streams == 0 ? 0 : (millis() - before) * 1024.0 / (streams * STREAM_MIB);
    }

    private long millis() {
      return process.info().totalCpuDuration().orElse(Duration.ZERO).toMillis();
    }
  }

  /// Writes blocks while the channel is writable.
  private static final class Pump extends ChannelInboundHandlerAdapter {
    private final TransportBenchmark bench;
    private final Channel channel;
    private int next;

    Pump(TransportBenchmark bench, Channel channel) {
      this.bench = bench;
      this.channel = channel;
    }

    void start() {
      channel.pipeline().addFirst(this);
      pump();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
      pump();
    }

    private void pump() {
      int blocks = (int) (STREAM_BYTES / bench.payloadBytes);
      while (next < blocks && channel.isWritable()) {
        while (next < blocks && channel.isWritable()) {
          var unused = channel.write(bench.block(next++), channel.voidPromise());
        }
        channel.flush();
      }
      if (next == blocks) {
        next++;
        channel.eventLoop().execute(() -> channel.pipeline().remove(this));
      }
    }
  }

  /// Counts bytes and drops them.
  @ChannelHandler.Sharable
  private static final class Drain extends ChannelInboundHandlerAdapter {
    private volatile CountDownLatch done = new CountDownLatch(1);
    private volatile long left;

    CountDownLatch expect(long bytes) {
      done = new CountDownLatch(1);
      left = bytes;
      return done;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      ByteBuf in = (ByteBuf) message;
      long now = left - in.readableBytes();
      in.release();
      left = now;
      if (now == 0) {
        done.countDown();
      }
    }
  }
}
