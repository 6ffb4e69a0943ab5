package io.penstock.wire;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.flow.ProducingSource;
import io.penstock.testkit.Blocks;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.HostTier;
import io.penstock.tier.OnMiss;
import io.penstock.tier.StackOptions;
import io.penstock.tier.TierListener;
import io.penstock.wire.transport.TcpClientOptions;
import io.penstock.wire.transport.TcpListener;
import io.penstock.wire.transport.TcpServerOptions;
import io.penstock.wire.transport.TcpTransport;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// One producer and seven destinations over loopback, with and without an eighth one behind a relay of 1 MB/s, in turn:
/// a node with its readers, then a writer with its nodes. The checksum of every slice is verified where it lands.
///
/// `mvn -Pjmh -pl rsocket-api/wire -am verify -Djmh.main=io.penstock.wire.SlowDestinationComparison -Djmh.include=5
/// -Djmh.args=2`: rounds, and seconds of each measurement in a round.
public final class SlowDestinationComparison {
  private static final CacheSpace SPACE =
      CacheSpace.of("slow", BlockLayout.attention(4, 64, 2, 128, ElementType.BF16));
  private static final int SLICE_BYTES = 256 << 10;
  private static final int WINDOW = 4;
  private static final int FAST = 7;
  private static final int AT_WORK = 2;
  private static final int STORED = 64;
  private static final long SLOW_RATE = 1_000_000;
  /// What passes before a measurement, as a share of it, and after it, in seconds.
  private static final double START = 0.25;
  private static final double END = 0.3;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final LoopResources loops = LoopResources.create("comparison", 1, 2, true);
  private final AtomicLongArray bytes = new AtomicLongArray(FAST + 1);
  private final AtomicLong written = new AtomicLong(STORED);

  private SlowDestinationComparison() {}

  public static void main(String[] arguments) throws IOException {
    int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 5;
    double seconds = arguments.length > 1 ? Double.parseDouble(arguments[1]) : 2;
    System.out.println("path   seven alone GB/s  beside GB/s  ratio  worst ratio  slow MB/s  peak of bytes in flight");
    new SlowDestinationComparison().reading(rounds, seconds);
    new SlowDestinationComparison().writing(rounds, seconds);
  }

  /// What one destination does once.
  private interface Work {
    Mono<Void> once(int destination);
  }

  private void reading(int rounds, double seconds) throws IOException {
    ByteBudget budget = new ByteBudget("node", 64L * SLICE_BYTES, 256);
    KvServer node = node(STORED, budget);
    int port = port(node);
    try (PacedRelay relay = new PacedRelay(port)) {
      List<KvClient> readers = IntStream.rangeClosed(0, FAST)
          .mapToObj(i -> client(i < FAST ? port : relay.port(), arena(4 * AT_WORK * WINDOW))).toList();
      readers.getFirst().put(Blocks.keys(SPACE, 0, STORED), source((SlabArena) readers.getFirst().arena())).then()
          .block(PATIENCE);
      measure("gets", rounds, seconds, i -> read(readers.get(i), i), relay, List.of(budget));
      end(readers, List.of(node));
    }
  }

  private void writing(int rounds, double seconds) throws IOException {
    List<ByteBudget> budgets = new ArrayList<>();
    List<KvServer> nodes = new ArrayList<>();
    for (int i = 0; i <= FAST; i++) {
      budgets.add(new ByteBudget("node", 64L * SLICE_BYTES, 256));
      nodes.add(node(STORED, budgets.getLast()));
    }
    try (PacedRelay relay = new PacedRelay(port(nodes.getLast()))) {
      SlabArena arena = arena(AT_WORK * (FAST + 1) * WINDOW);
      ProducingSource source = source(arena);
      List<KvClient> writers = IntStream.rangeClosed(0, FAST)
          .mapToObj(i -> client(i < FAST ? port(nodes.get(i)) : relay.port(), arena)).toList();
      measure("puts", rounds, seconds, i -> write(writers.get(i), source, i), relay, budgets);
      end(writers, nodes);
    }
  }

  private void end(List<KvClient> clients, List<KvServer> nodes) {
    clients.forEach(client -> client.close().block(PATIENCE));
    nodes.forEach(node -> node.close().block(PATIENCE));
    loops.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
  }

  private KvServer node(int blocks, ByteBudget budget) {
    HostTier tier = new HostTier(SPACE, blocks, StackOptions.defaults("dram").withIngressBlocks(8 * WINDOW),
        TierListener.noop());
    KvServerOptions options = KvServerOptions.builder().limits(new Limits(SLICE_BYTES, WINDOW, 256))
        .sendWindowBytes(4L * SLICE_BYTES).build();
    return requireNonNull(KvServer.bind(TcpTransport.server(TcpServerOptions.on("127.0.0.1", 0), loops), tier, options,
        budget, Schedulers.single()).block(PATIENCE));
  }

  private static int port(KvServer node) {
    return ((TcpListener) node.listening()).port();
  }

  private KvClient client(int port, SlabArena arena) {
    KvClientOptions options = KvClientOptions.builder().maxSliceBytes(SLICE_BYTES).windowBlocks(WINDOW)
        .sendWindowBytes(4L * SLICE_BYTES).carriers(Carrier.INLINE).build();
    return requireNonNull(KvClient.connect(TcpTransport.client(TcpClientOptions.to("127.0.0.1", port), loops), options,
        SPACE, arena, new ByteBudget("client", 32L * SLICE_BYTES, 64)).block(PATIENCE));
  }

  private static SlabArena arena(int blocks) {
    return new SlabArena("blocks", SPACE.layout(), blocks, 256);
  }

  private static ProducingSource source(SlabArena arena) {
    return new ProducingSource(arena, SliceShape.Order.LAYER_FIRST, (key, range, to) -> to.fill((byte) range.first()));
  }

  private Mono<Void> read(KvClient client, int destination) {
    return Flux.using(BlockScope::new, scope -> client.lease(Blocks.keys(SPACE, 0, WINDOW), OnMiss.SKIP, scope)
        .flatMapMany(lease -> lease.slices(scope)), BlockScope::close).doOnNext(slice -> {
          try (slice) {
            bytes.addAndGet(destination, slice.bytes());
          }
        }).then();
  }

  private Mono<Void> write(KvClient client, ProducingSource source, int destination) {
    long first = written.getAndAdd(WINDOW);
    List<BlockKey> keys = Blocks.keys(SPACE, first, first + WINDOW);
    return client.put(keys, source)
        .doOnNext(receipt -> bytes.addAndGet(destination, SPACE.layout().blockBytes())).then();
  }

  private void measure(String path, int rounds, double seconds, Work work, PacedRelay relay,
      List<ByteBudget> budgets) {
    gigabytes(work, FAST + 1, 2 * seconds); // warm-up
    double[] alone = new double[rounds];
    double[] beside = new double[rounds];
    double[] ratios = new double[rounds];
    double slow = 0;
    for (int round = 0; round < rounds; round++) {
      boolean aloneFirst = round % 2 == 0;
      alone[round] = aloneFirst ? gigabytes(work, FAST, seconds) : 0;
      long before = relay.passed();
      beside[round] = gigabytes(work, FAST + 1, seconds);
      slow += (relay.passed() - before) / (seconds * (1 + START) + END) / rounds / 1e6;
      alone[round] = aloneFirst ? alone[round] : gigabytes(work, FAST, seconds);
      ratios[round] = beside[round] / alone[round];
    }
    long peak = budgets.stream().mapToLong(ByteBudget::peakBytes).max().orElseThrow();
    System.out.printf("%s  %16.2f  %11.2f  %5.2f  %11.2f  %9.2f  %,d of %,d%n", path, median(alone), median(beside),
        median(ratios), Arrays.stream(ratios).min().orElseThrow(), slow, peak, budgets.getFirst().capacityBytes());
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  /// What the fast destinations together have a second, from a moment on at which all are at work.
  private double gigabytes(Work work, int destinations, double seconds) {
    Disposable.Composite running = Disposables.composite();
    for (int i = 0; i < AT_WORK * destinations; i++) {
      int destination = i % destinations;
      running.add(Mono.defer(() -> work.once(destination)).repeat().subscribe());
    }
    pass(seconds * START);
    IntStream.rangeClosed(0, FAST).forEach(i -> bytes.set(i, 0));
    long begin = System.nanoTime();
    pass(seconds);
    long moved = IntStream.range(0, FAST).mapToLong(bytes::get).sum();
    double rate = (double) moved / (System.nanoTime() - begin);
    running.dispose();
    pass(END); // cancelled streams end
    return rate;
  }

  private static void pass(double seconds) {
    long until = System.nanoTime() + (long) (seconds * 1e9);
    for (long left = until - System.nanoTime(); left > 0; left = until - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  /// Passes connections on to a port, 1 MB/s in each direction.
  private static final class PacedRelay implements AutoCloseable {
    private static final int CHUNK = 8 << 10;
    private final ServerSocket listening = new ServerSocket();
    private final int target;
    private final AtomicLong passed = new AtomicLong();

    PacedRelay(int target) throws IOException {
      this.target = target;
      listening.setReceiveBufferSize(64 << 10);
      listening.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      Thread.ofPlatform().daemon().start(this::accept);
    }

    int port() {
      return listening.getLocalPort();
    }

    /// Bytes that came through, in both directions.
    long passed() {
      return passed.get();
    }

    private void accept() {
      try {
        while (true) {
          Socket client = listening.accept();
          Socket server = new Socket();
          server.setReceiveBufferSize(64 << 10);
          server.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), target));
          Thread.ofPlatform().daemon().start(() -> pump(client, server));
          Thread.ofPlatform().daemon().start(() -> pump(server, client));
        }
      } catch (IOException e) {
        if (!listening.isClosed()) {
          throw new AssertionError(e);
        }
      }
    }

    private void pump(Socket from, Socket to) {
      try (from; to) {
        InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream();
        byte[] chunk = new byte[CHUNK];
        for (int n = in.read(chunk); n >= 0; n = in.read(chunk)) {
          out.write(chunk, 0, n);
          passed.addAndGet(n);
          pass((double) n / SLOW_RATE);
        }
      } catch (IOException e) {
        System.err.println("relay: " + e.getMessage()); // an end of the connection is gone
      }
    }

    @Override
    public void close() throws IOException {
      listening.close();
    }
  }
}
