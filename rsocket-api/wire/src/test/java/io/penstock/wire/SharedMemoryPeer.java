package io.penstock.wire;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SlabArena.ChunkSource;
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
import io.penstock.wire.client.get.PeerBlock;
import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/// A node, or a client that puts and gets without end, in a process of its own, whose blocks lie in memory for others
/// to read. It ends with the process that began it.
final class SharedMemoryPeer implements AutoCloseable {
  static final CacheSpace SPACE =
      CacheSpace.of("two processes", BlockLayout.attention(8, 64, 2, 64, ElementType.BF16));
  static final int WINDOW = 8;
  static final int BLOCKS = 32;

  private final Process process;
  private final BufferedReader out;

  private SharedMemoryPeer(Process process) {
    this.process = process;
    this.out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  /// @param arguments `node` or `segments`; or `client` or `batches`, and a port
  static SharedMemoryPeer begin(String... arguments) throws IOException {
    List<String> command = new ArrayList<>(
        List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx64m", "-Xshare:auto",
            "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(flag -> flag.startsWith("--")).toList());
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), SharedMemoryPeer.class.getName()));
    command.addAll(List.of(arguments));
    return new SharedMemoryPeer(new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  /// Its next line.
  String line() throws IOException {
    return requireNonNull(out.readLine(), "the peer has ended");
  }

  /// Kills it, and waits until the system has taken back all that was its.
  void kill() throws InterruptedException {
    process.destroyForcibly();
    if (!process.waitFor(60, TimeUnit.SECONDS)) {
      throw new AssertionError("a killed process must end (did not)");
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }

  static HostTier tier(String memory) {
    return new HostTier(SPACE, 4L * BLOCKS, StackOptions.defaults("dram").withIngressBlocks(4 * WINDOW),
        TierListener.noop(), ChunkSource.shared(memory));
  }

  static KvServer serve(HostTier tier) {
    return requireNonNull(KvServer.bind(Link.SHARED_MEMORY.server(), tier, KvServerOptions.defaults(),
        new ByteBudget("ingress", 16 << 20, 64), Schedulers.single()).block(WireNode.PATIENCE));
  }

  static SlabArena arena(String memory) {
    return new SlabArena(memory, SPACE.layout(), 8 * WINDOW, 64, ChunkSource.shared(memory));
  }

  static KvClient connect(int port, SlabArena arena) {
    return requireNonNull(KvClient.connect(Link.SHARED_MEMORY.client(port),
        KvClientOptions.builder().windowBlocks(WINDOW).carriers(Carrier.SHARED_MEMORY).ring(Duration.ZERO).build(),
        SPACE, arena,
        new ByteBudget("client", 16 << 20, 64)).block(WireNode.PATIENCE));
  }

  static Mono<Long> put(KvClient client, long first) {
    return client.put(Blocks.keys(SPACE, first, first + BLOCKS), new ProducingSource(client.arena(),
        SliceShape.Order.LAYER_FIRST, (key, range, to) -> Blocks.fill(key, range.offset(SPACE.layout()), to))).count();
  }

  /// Bytes of the blocks, each compared.
  static Mono<Long> get(KvClient client, long first) {
    return get(client, Blocks.keys(SPACE, first, first + BLOCKS));
  }

  private static Mono<Long> get(KvClient client, List<BlockKey> keys) {
    return Flux.using(BlockScope::new, scope -> client.lease(keys, OnMiss.SKIP, scope)
        .flatMapMany(lease -> lease.slices(scope)).map(slice -> {
          try (slice) {
            slice.spans().forEach(Blocks::assertBytes);
            return (long) slice.bytes();
          }
        }), BlockScope::close).reduce(0L, Long::sum);
  }

  /// Leases `count` blocks where they lie, compares them, and keeps the leases.
  static List<PeerBlock> borrow(KvClient client, int count) {
    BlockScope kept = new BlockScope();
    return requireNonNull(Flux.fromIterable(Blocks.keys(SPACE, 0, count)).flatMap(key -> client.borrow(key, kept))
        .doOnNext(SharedMemoryPeer::assertBytes).collectList().block(WireNode.PATIENCE));
  }

  static void assertBytes(PeerBlock block) {
    block.read(GranuleRange.all(SPACE.layout()), memory -> {
      Blocks.assertBytes(block.key(), 0, memory);
      return true;
    });
  }

  /// Gets one block after the other through the read ring.
  static Mono<Long> getOneByOne(KvClient client) {
    return Flux.fromIterable(Blocks.keys(SPACE, 0, BLOCKS)).concatMap(key -> get(client, List.of(key)), 1)
        .reduce(0L, Long::sum);
  }

  public static void main(String[] arguments) throws IOException {
    switch (arguments[0]) {
      case "node" -> System.out.println(Link.SHARED_MEMORY.port(serve(tier("killed-node"))));
      case "segments" -> SharedSegmentsPeer.serveForever();
      case "batches" -> SharedSegmentsPeer.moveForever(Integer.parseInt(arguments[1]));
      default -> moveForever(Integer.parseInt(arguments[1]));
    }
    while (System.in.read() >= 0) {
      continue;
    }
    Runtime.getRuntime().halt(0);
  }

  private static void moveForever(int port) {
    KvClient client = connect(port, arena("killed-client"));
    long own = 10_000 * ProcessHandle.current().pid(); // blocks that the node does not have, or it would map nothing
    put(client, own).then(put(client, 0)).then(get(client, 0)).block(WireNode.PATIENCE);
    borrow(client, 4);
    System.out.println("running");
    Mono.when(getOneByOne(client).repeat(), put(client, 1_000).then(put(client, 2_000)).repeat(),
        get(client, 0).repeat()).subscribe();
  }
}
