package io.penstock.wire;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.LayerSlice;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.block.SliceShape;
import io.penstock.check.Checksum;
import io.penstock.flow.ProducingSource;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierListener;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpListener;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleSupplier;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// Gets from a node in another process by each carrier, in turn, beside a copy with CRC32C in one thread: medians of
/// rounds, blocks from 256 MiB, every byte verified.
///
/// `mvn -Pjmh -pl rsocket-api/wire -am verify -Djmh.main=io.penstock.wire.CarrierComparison -Djmh.include=5
/// -Djmh.args="2 256"`: rounds, seconds of each measurement in a round, and KiB of a block for one size alone.
public final class CarrierComparison {
  private static final int[] BLOCK_BYTES = {64 << 10, 256 << 10, 1 << 20};
  private static final long WORKING_SET = 256L << 20;
  private static final int SLICE_BYTES = 1 << 20;
  private static final int IN_FLIGHT = 4;
  private static final int LANDING_BYTES = 64 << 20;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final CacheSpace space;
  private final int blockBytes;
  private final int blocks;
  private final int batch;

  private CarrierComparison(int blockBytes) {
    this.space = CacheSpace.of("carriers",
        BlockLayout.attention(4, blockBytes / (4 * 2 * 2 * 128 * 2), 2, 128, ElementType.BF16));
    this.blockBytes = space.layout().blockBytes();
    this.blocks = (int) (WORKING_SET / blockBytes);
    this.batch = Math.max(4, (4 << 20) / blockBytes);
  }

  /// What one way to move blocks showed, in medians: GB/s, CPU seconds a GB on both ends together, µs of one block at a
  /// time.
  private record Figures(double gigabytes, double cpu, double micros) {
    static Figures of(List<Figures> rounds) {
      return new Figures(median(rounds, Figures::gigabytes), median(rounds, Figures::cpu),
          median(rounds, Figures::micros));
    }

    private static double median(List<Figures> rounds, ToDoubleFunction<Figures> figure) {
      return CarrierComparison.median(rounds.stream().mapToDouble(figure).toArray());
    }
  }

  public static void main(String[] arguments) throws IOException {
    if (arguments.length > 0 && arguments[0].equals("node")) {
      new CarrierComparison(Integer.parseInt(arguments[1])).serve();
      return;
    }
    int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 5;
    double seconds = arguments.length > 1 ? Double.parseDouble(arguments[1]) : 2;
    System.out.println("block KiB            carrier   GB/s  CPU s/GB  one block p50 us  GB/s of copy+CRC32C");
    int[] sizes = arguments.length > 2 ? new int[] {Integer.parseInt(arguments[2]) << 10} : BLOCK_BYTES;
    for (int bytes : sizes) {
      new CarrierComparison(bytes).measure(rounds, seconds);
    }
  }

  private void serve() throws IOException {
    HostTier tier = new HostTier(space, blocks, StackOptions.defaults("dram").withIngressBlocks(2 * batch),
        TierListener.noop(), ChunkSource.shared("benchmark"));
    LoopResources loops = LoopResources.create("node", 1, true);
    KvServerOptions options = KvServerOptions.defaults().withLimits(new Limits(SLICE_BYTES, 1024, 65_536))
        .withSendWindowBytes(8L * SLICE_BYTES);
    KvServer server = requireNonNull(KvServer.bind(TcpTransport.server(TcpServerOptions.on("127.0.0.1", 0), loops),
        tier, options, new ByteBudget("node", 64L * SLICE_BYTES, 64), Schedulers.single()).block(PATIENCE));
    System.out.println(((TcpListener) server.listening()).port());
    while (System.in.read() >= 0) {
      continue;
    }
  }

  private Process begin() throws IOException {
    List<String> command = new ArrayList<>(
        List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx512m", "-XX:+UseParallelGC"));
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(flag -> flag.startsWith("--")).toList());
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), CarrierComparison.class.getName(), "node",
        "" + blockBytes));
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  private void measure(int rounds, double seconds) throws IOException {
    Process node = begin();
    LoopResources loops = LoopResources.create("client", 1, true);
    try (SlabArena arena = new SlabArena("client", space.layout(), LANDING_BYTES / blockBytes * 2, 64)) {
      int port = Integer.parseInt(
          new BufferedReader(new InputStreamReader(node.getInputStream(), StandardCharsets.UTF_8)).readLine());
      Map<Carrier, KvClient> clients = new EnumMap<>(Carrier.class);
      for (Carrier carrier : Carrier.values()) {
        clients.put(carrier, connect(port, loops, arena, carrier));
      }
      fill(requireNonNull(clients.get(Carrier.INLINE)), arena);
      for (Carrier carrier : Carrier.values()) {
        throughput(requireNonNull(clients.get(carrier)), 2 * seconds, () -> 0); // warm-up
      }
      report(node, clients, rounds, seconds);
      clients.values().forEach(client -> client.close().block(PATIENCE));
    } finally {
      node.destroyForcibly();
      loops.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
    }
  }

  private void report(Process node, Map<Carrier, KvClient> clients, int rounds, double seconds) {
    Map<Carrier, List<Figures>> figures = new EnumMap<>(Carrier.class);
    List<Figures> copies = new ArrayList<>();
    for (int round = 0; round < rounds; round++) {
      copies.add(copy(seconds / 2));
      clients.forEach((carrier, client) -> {
        Figures all = throughput(client, seconds, () -> cpuSeconds(node));
        figures.computeIfAbsent(carrier, key -> new ArrayList<>())
            .add(new Figures(all.gigabytes(), all.cpu(), latency(client, seconds / 2)));
      });
    }
    Figures copy = Figures.of(copies);
    figures.forEach((carrier, all) -> print(carrier.label(), Figures.of(all), copy));
    print("copy+CRC32C", copy, copy);
  }

  private void print(String name, Figures figures, Figures copy) {
    System.out.printf("%9d  %17s  %5.2f  %8.3f  %16.1f  %19.2f%n", blockBytes >> 10, name, figures.gigabytes(),
        figures.cpu(), figures.micros(), figures.gigabytes() / copy.gigabytes());
  }

  /// Of this process and the node's.
  private static double cpuSeconds(Process node) {
    return Stream.of(ProcessHandle.current(), node.toHandle())
        .mapToDouble(process -> process.info().totalCpuDuration().orElse(Duration.ZERO).toMillis() / 1e3).sum();
  }

  private static double median(double[] values) {
    Arrays.sort(values);
    return values[values.length / 2];
  }

  private KvClient connect(int port, LoopResources loops, SlabArena arena, Carrier carrier) {
    KvClientOptions options = KvClientOptions.builder().maxSliceBytes(SLICE_BYTES).windowBlocks(batch)
        .carriers(carrier).build();
    return requireNonNull(KvClient.connect(TcpTransport.client(TcpClientOptions.to("127.0.0.1", port), loops), options,
        space, arena, new ByteBudget("client", 64L * SLICE_BYTES, 64)).block(PATIENCE));
  }

  private void fill(KvClient client, SlabArena arena) {
    for (int first = 0; first < blocks; first += batch) {
      client.put(keys(first, batch), new ProducingSource(arena, SliceShape.Order.LAYER_FIRST,
          (key, range, to) -> Blocks.fill(key, range.offset(space.layout()), to))).then().block(PATIENCE);
    }
  }

  private List<BlockKey> keys(int first, int count) {
    return Blocks.keys(space, first, Math.min(blocks, first + count));
  }

  /// Of gets of `batch` blocks, some at a time.
  private Figures throughput(KvClient client, double seconds, DoubleSupplier cpu) {
    List<List<BlockKey>> batches = new ArrayList<>();
    for (int first = 0; first + batch <= blocks; first += batch) {
      batches.add(keys(first, batch));
    }
    double before = cpu.getAsDouble();
    long begin = System.nanoTime();
    long end = begin + (long) (seconds * 1e9);
    Long bytes = Flux.fromIterable(batches).repeat(() -> System.nanoTime() < end)
        .flatMap(keys -> get(client, keys), IN_FLIGHT, 1).takeUntil(got -> System.nanoTime() >= end)
        .reduce(0L, Long::sum).block(PATIENCE);
    double gigabytes = requireNonNull(bytes) / 1e9;
    return new Figures(gigabytes / ((System.nanoTime() - begin) / 1e9), (cpu.getAsDouble() - before) / gigabytes, 0);
  }

  private static Mono<Long> get(KvClient client, List<BlockKey> keys) {
    return Flux.using(BlockScope::new, scope -> client.lease(keys, OnMiss.SKIP, scope)
        .flatMapMany(lease -> lease.slices(scope)).map(CarrierComparison::take), BlockScope::close)
        .reduce(0L, Long::sum);
  }

  private static long take(LayerSlice slice) {
    try (slice) {
      return slice.bytes();
    }
  }

  /// Median in µs of gets of one block, one at a time.
  private double latency(KvClient client, double seconds) {
    List<Double> micros = new ArrayList<>();
    long end = System.nanoTime() + (long) (seconds * 1e9);
    for (int i = 0; System.nanoTime() < end; i++) {
      List<BlockKey> key = keys(i % blocks, 1);
      long begin = System.nanoTime();
      get(client, key).block(PATIENCE);
      micros.add((System.nanoTime() - begin) / 1e3);
    }
    return median(micros.stream().mapToDouble(Double::doubleValue).toArray());
  }

  /// Of copies of blocks, each followed by the checksums of its granules, by this thread.
  private Figures copy(double seconds) {
    try (Arena memory = Arena.ofShared()) {
      MemorySegment from = memory.allocate(WORKING_SET, 64).fill((byte) 3);
      MemorySegment to = memory.allocate(LANDING_BYTES, 64).fill((byte) 1);
      int granule = space.layout().granuleBytes(0);
      ThreadMXBean threads = ManagementFactory.getThreadMXBean();
      long cpu = threads.getCurrentThreadCpuTime();
      long begin = System.nanoTime();
      long end = begin + (long) (seconds * 1e9);
      long bytes = 0;
      int sum = 0;
      for (; System.nanoTime() < end; bytes += blockBytes) {
        MemorySegment block = to.asSlice(bytes % LANDING_BYTES, blockBytes);
        block.copyFrom(from.asSlice(bytes % WORKING_SET, blockBytes));
        for (int at = 0; at < blockBytes; at += granule) {
          sum += Checksum.of(block.asSlice(at, granule).asByteBuffer());
        }
      }
      if (sum == 0) {
        System.out.print("");
      }
      double nanos = System.nanoTime() - begin;
      return new Figures(bytes / nanos, (threads.getCurrentThreadCpuTime() - cpu) / (double) bytes, 0);
    }
  }
}
