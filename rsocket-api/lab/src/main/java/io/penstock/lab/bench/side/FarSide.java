package io.penstock.lab.bench.side;

import io.netty.buffer.ByteBuf;
import io.netty.util.NettyRuntime;
import io.penstock.block.CacheSpace;
import io.penstock.node.text.Json;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.TierListener;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.server.space.NodeSpaces;
import io.penstock.wire.transport.tcp.TcpListener;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import io.rsocket.Closeable;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.SocketAcceptor;
import io.rsocket.core.RSocketServer;
import io.rsocket.frame.decoder.PayloadDecoder;
import io.rsocket.transport.ServerTransport;
import io.rsocket.util.ByteBufPayload;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.DisposableServer;
import reactor.netty.resources.LoopResources;

/// The far side of a bench: serves blocks, plain answers and raw bytes, as the near side orders over RSocket.
///
/// An order is a [FarOrder] in JSON. A request to a [FarOrder.Verb#PLAIN] listener is one integer, the bytes that the
/// answer has.
final class FarSide implements AutoCloseable {
  private static final int WAITERS = 4096;
  private static final int MOST_RINGS = 4;
  /// The near side says how long.
  private static final Duration MOST_SPIN = Duration.ofSeconds(1);

  private final BenchTransport.Place place;
  private final LoopResources loops =
      LoopResources.create("penstock-far", Math.max(1, NettyRuntime.availableProcessors() / 2), true);
  private final Scheduler timers = Schedulers.newSingle("penstock-far-timers", true);
  /// Orders block, which a thread of `newSingle` may not: they fill tiers.
  private final Scheduler orders = Schedulers.fromExecutorService(
      Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().name("penstock-far-orders").factory()));
  private final AtomicInteger names = new AtomicInteger();
  private final RawStream.Memory bytes;
  private final TcpListener control;
  /// Used by orders, which come one after another.
  private final Deque<Runnable> begun = new ArrayDeque<>();

  /// @param port of the control connection; 0 for a free one
  /// @param sourceBytes memory that plain and raw bytes come from
  FarSide(BenchTransport.Place place, int port, long sourceBytes) {
    this.place = place;
    this.bytes = new RawStream.Memory(sourceBytes, 7);
    this.control = (TcpListener) bind(
        TcpTransport.server(TcpServerOptions.on(place.host(), port), loops),
        SocketAcceptor.forRequestResponse(payload -> Mono.fromCallable(() -> answered(payload)).subscribeOn(orders)));
  }

  private static Closeable bind(ServerTransport<? extends Closeable> transport, SocketAcceptor acceptor) {
    return BenchWait.of(RSocketServer.create(acceptor).payloadDecoder(PayloadDecoder.ZERO_COPY).bind(transport));
  }

  /// Port for orders.
  int port() {
    return control.port();
  }

  private Payload answered(Payload payload) {
    String text = payload.getDataUtf8();
    payload.release();
    FarOrder.Answer answer = obey(Json.MAPPER.readValue(text, FarOrder.class));
    return ByteBufPayload.create(Json.of(answer).getBytes(StandardCharsets.UTF_8));
  }

  private FarOrder.Answer obey(FarOrder order) {
    String address = switch (order.verb()) {
      case NODE -> node(order);
      case SEGMENTS -> segments(order);
      case RAW -> raw(order);
      case PLAIN, PLAIN_AWAKE -> plain(order);
      case CPU -> "";
      case END -> {
        end();
        yield "";
      }
    };
    return new FarOrder.Answer(address, ProcessCpu.nanos());
  }

  private String name() {
    return "bench-" + names.incrementAndGet() + ".sock";
  }

  private ServerTransport<? extends Closeable> server(FarOrder order, String name) {
    return order.transport().server(place, name, order.tuning(), loops);
  }

  private String segments(FarOrder order) {
    String name = name();
    BenchSegments segments = new BenchSegments(order.memory(), bytes.capacity(), order.transport());
    ByteBudget budget = new ByteBudget("bench", WireShape.BUDGET_BYTES, WAITERS);
    KvServerOptions options =
        KvServerOptions.builder().node("bench").limits(new Limits(WireShape.SLICE_BYTES, 1, 1)).build();
    KvServer server = BenchWait.of(KvServer.bind(server(order, name), NodeSpaces.none(), segments.registry(), options,
        budget, timers, Schedulers.immediate()));
    begun.push(() -> {
      BenchWait.end(server.close());
      segments.close();
    });
    return BenchTransport.told(server.listening(), name);
  }

  private String node(FarOrder order) {
    BenchBlocks blocks = new BenchBlocks(order.blockBytes(), order.layers());
    CacheSpace space = blocks.space();
    WireShape shape = WireShape.of(order.blockBytes());
    HostTier tier = new HostTier(space, order.blocks(),
        StackOptions.defaults("dram").withIngressBlocks(shape.ingressBlocks()), TierListener.noop(),
        order.transport().chunks());
    if (order.filled()) {
      blocks.fill(tier, order.blocks());
    }
    ByteBudget budget = new ByteBudget("bench", WireShape.BUDGET_BYTES, WAITERS);
    String name = name();
    KvServer server = BenchWait.of(KvServer.bind(server(order, name), tier,
        KvServerOptions.builder().node("bench").limits(shape.limits()).putBlocks(shape.ingressBlocks())
            .rings(MOST_RINGS).ringSpin(MOST_SPIN).build(),
        budget, timers));
    begun.push(() -> {
      BenchWait.end(server.close());
      BenchWait.end(tier.close());
    });
    return BenchTransport.told(server.listening(), name);
  }

  private String raw(FarOrder order) {
    ByteBuf sent = bytes.bytes();
    DisposableServer server =
        BenchTransport.rawServer(order.transport().bare().local(place, name()), order.congestion(), loops)
            .doOnConnection(connection -> RawStream.serve(connection, sent)).bindNow();
    begun.push(server::disposeNow);
    return BenchTransport.told(server.channel().localAddress());
  }

  private String plain(FarOrder order) {
    String name = name();
    ByteBuf sent = bytes.bytes();
    Closeable listener = bind(server(order, name), SocketAcceptor.with(new RSocket() {
      /// Position in the memory; it advances, so that no cache holds the sent bytes. One connection, one thread.
      private int at;

      @Override
      public Mono<Payload> requestResponse(Payload payload) {
        int length = payload.sliceData().readInt();
        payload.release();
        at = at + 2L * length > sent.capacity() ? 0 : at + length;
        return Mono.just(ByteBufPayload.create(sent.retainedSlice(at, length)));
      }
    }));
    begun.push(() -> {
      listener.dispose();
      BenchWait.end(listener.onClose());
    });
    return BenchTransport.told(listener, name);
  }

  private void end() {
    while (!begun.isEmpty()) {
      begun.pop().run();
    }
  }

  @Override
  public void close() {
    end();
    control.dispose();
    BenchWait.end(control.onClose());
    BenchWait.end(loops);
    orders.dispose();
    timers.dispose();
    bytes.close();
  }
}
