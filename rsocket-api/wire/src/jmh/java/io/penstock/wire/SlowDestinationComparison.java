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
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierListener;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.segment.SegmentConnector;
import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.server.space.NodeSpaces;
import io.penstock.wire.transfer.SegmentRegistry;
import io.penstock.wire.transfer.Transfer;
import io.penstock.wire.transfer.TransferBatch;
import io.penstock.wire.transfer.TransferEngine;
import io.penstock.wire.transfer.TransferOptions;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpListener;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
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

/// One producer and seven destinations over loopback, with and without an eighth one behind a relay of 1 MB/s: a node
/// with its readers, a writer with its nodes, then an engine that reads from and writes to peers. The checksum of every
/// slice is verified where it lands.
///
/// The seven work all the time. The eighth one comes and goes, and the time with it and without it is cut into short
/// slices, by turns: what else the machine does falls on both alike. A ratio is that of neighbours; told are the median
/// of all, their quartiles, and the least median of one destination.
///
/// `mvn -Pjmh -pl rsocket-api/wire -am verify -Djmh.main=io.penstock.wire.SlowDestinationComparison -Djmh.include=40
/// -Djmh.args=0.25`: pairs of slices, and seconds of a slice.
public final class SlowDestinationComparison {
  private static final CacheSpace SPACE =
      CacheSpace.of("slow", BlockLayout.attention(4, 64, 2, 128, ElementType.BF16));
  private static final int SLICE_BYTES = 256 << 10;
  private static final int WINDOW = 4;
  private static final int FAST = 7;
  private static final int AT_WORK = 2;
  private static final int STORED = 64;
  private static final long SLOW_RATE = 1_000_000;
  /// Seconds between two slices, in which the eighth destination begins or ends.
  private static final double TURN = 0.15;
  private static final double WARM_UP = 6;
  private static final int ITEM_BYTES = 256 << 10;
  private static final int ITEMS = 4;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final LoopResources loops = LoopResources.create("comparison", 1, 2, true);
  private final AtomicLongArray bytes = new AtomicLongArray(FAST + 1);
  private final AtomicLong written = new AtomicLong(STORED);

  private SlowDestinationComparison() {}

  public static void main(String[] arguments) throws IOException {
    int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 40;
    double seconds = arguments.length > 1 ? Double.parseDouble(arguments[1]) : 0.25;
    System.out
        .println("path    seven alone GB/s  ratio  quartiles     least of one  slow MB/s  peak of bytes in flight");
    new SlowDestinationComparison().reading(rounds, seconds);
    new SlowDestinationComparison().writing(rounds, seconds);
    for (TransferBatch.Direction direction : TransferBatch.Direction.values()) {
      new SlowDestinationComparison().transferring(direction, rounds, seconds);
    }
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

  private void transferring(TransferBatch.Direction direction, int rounds, double seconds) throws IOException {
    List<ByteBudget> budgets = new ArrayList<>();
    List<KvServer> nodes = new ArrayList<>();
    Arena memory = Arena.ofAuto();
    for (int i = 0; i <= FAST; i++) {
      SegmentRegistry registry = new SegmentRegistry(1);
      registry.register("kv", memory.allocate((long) ITEMS * ITEM_BYTES));
      budgets.add(new ByteBudget("node", 64L * SLICE_BYTES, 256));
      nodes.add(requireNonNull(KvServer.bind(TcpTransport.server(TcpServerOptions.on("127.0.0.1", 0), loops),
          NodeSpaces.none(), registry, options(), budgets.getLast(), Schedulers.single(), Schedulers.immediate())
          .block(PATIENCE)));
    }
    ByteBudget own = new ByteBudget("engine", 64L * SLICE_BYTES, 1024);
    budgets.addFirst(own);
    try (PacedRelay relay = new PacedRelay(port(nodes.getLast()))) {
      KvClientOptions client = KvClientOptions.builder().maxSliceBytes(SLICE_BYTES)
          .sendWindowBytes(4L * SLICE_BYTES).carriers(Carrier.INLINE).build();
      TransferEngine engine = new TransferEngine(TransferOptions.defaults(),
          new SegmentConnector(
              peer -> TcpTransport.client(TcpClientOptions.to("127.0.0.1", Integer.parseInt(peer)), loops), client,
              own),
          Schedulers.single(), new SplittableRandom(1));
      List<TransferBatch> batches = new ArrayList<>();
      for (int i = 0; i <= FAST; i++) {
        String peer = "" + (i < FAST ? port(nodes.get(i)) : relay.port());
        TransferBatch.Builder batch = TransferBatch.builder();
        MemorySegment local = memory.allocate((long) ITEMS * ITEM_BYTES);
        for (long at = 0; at < local.byteSize(); at += ITEM_BYTES) {
          batch.add(new TransferBatch.Item(direction, peer, "kv", null, at, List.of(local.asSlice(at, ITEM_BYTES))));
        }
        batches.add(batch.build());
      }
      measure(direction.name().toLowerCase(Locale.ROOT) + "s", rounds, seconds, i -> Mono.defer(() -> {
        Transfer transfer = engine.submit(batches.get(i));
        return transfer.results().doOnNext(result -> bytes.addAndGet(i, result.bytes()))
            .doOnCancel(() -> transfer.cancel().subscribe()).then();
      }), relay, budgets);
      engine.close().block(PATIENCE);
      end(List.of(), nodes);
    }
  }

  private static KvServerOptions options() {
    return KvServerOptions.builder().limits(new Limits(SLICE_BYTES, WINDOW, 256)).sendWindowBytes(4L * SLICE_BYTES)
        .build();
  }

  private void end(List<KvClient> clients, List<KvServer> nodes) {
    clients.forEach(client -> client.close().block(PATIENCE));
    nodes.forEach(node -> node.close().block(PATIENCE));
    loops.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
  }

  private KvServer node(int blocks, ByteBudget budget) {
    HostTier tier = new HostTier(SPACE, blocks, StackOptions.defaults("dram").withIngressBlocks(8 * WINDOW),
        TierListener.noop());
    return requireNonNull(KvServer.bind(TcpTransport.server(TcpServerOptions.on("127.0.0.1", 0), loops), tier,
        options(), budget, Schedulers.single()).block(PATIENCE));
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

  private void measure(String path, int pairs, double seconds, Work work, PacedRelay relay,
      List<ByteBudget> budgets) {
    Disposable fast = working(0, FAST, work);
    pass(WARM_UP);
    double[] ratios = new double[pairs];
    double[][] ratiosOfEach = new double[FAST][pairs];
    double[] alone = new double[pairs];
    double slow = 0;
    for (int pair = 0; pair < pairs; pair++) {
      boolean aloneFirst = pair % 2 == 0;
      long[] without = aloneFirst ? moved(seconds) : new long[FAST];
      long before = relay.passed();
      Disposable eighth = working(FAST, FAST + 1, work);
      pass(TURN);
      long[] beside = moved(seconds);
      slow += (relay.passed() - before) / (seconds + TURN) / pairs / 1e6;
      eighth.dispose();
      pass(TURN); // cancelled streams end
      without = aloneFirst ? without : moved(seconds);
      ratios[pair] = (double) sum(beside) / sum(without);
      alone[pair] = sum(without) / seconds / 1e9;
      for (int i = 0; i < FAST; i++) {
        ratiosOfEach[i][pair] = (double) beside[i] / Math.max(1, without[i]);
      }
    }
    fast.dispose();
    pass(TURN);
    long peak = budgets.stream().mapToLong(ByteBudget::peakBytes).max().orElseThrow();
    System.out.printf("%-6s  %16.2f  %5.2f  %5.2f .. %.2f  %12.2f  %9.2f  %,d of %,d%n", path, quantile(alone, 0.5),
        quantile(ratios, 0.5), quantile(ratios, 0.25), quantile(ratios, 0.75),
        Arrays.stream(ratiosOfEach).mapToDouble(each -> quantile(each, 0.5)).min().orElseThrow(), slow, peak,
        budgets.getFirst().capacityBytes());
  }

  private static double quantile(double[] values, double at) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[(int) (at * (sorted.length - 1) + 0.5)];
  }

  private static long sum(long[] values) {
    return Arrays.stream(values).sum();
  }

  /// Has destinations work until it is disposed.
  private static Disposable working(int from, int to, Work work) {
    Disposable.Composite running = Disposables.composite();
    for (int i = 0; i < AT_WORK; i++) {
      IntStream.range(from, to).forEach(one -> running.add(Mono.defer(() -> work.once(one)).repeat().subscribe()));
    }
    return running;
  }

  /// Bytes that each of the seven moves in one slice of time.
  private long[] moved(double seconds) {
    long[] before = IntStream.range(0, FAST).mapToLong(bytes::get).toArray();
    long began = System.nanoTime();
    pass(seconds);
    double share = seconds * 1e9 / (System.nanoTime() - began);
    return IntStream.range(0, FAST).mapToLong(i -> (long) ((bytes.get(i) - before[i]) * share)).toArray();
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
