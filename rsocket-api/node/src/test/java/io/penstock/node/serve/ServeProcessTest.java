package io.penstock.node.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.LayerSlice;
import io.penstock.block.PrefixHasher;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.flow.ProducingSource;
import io.penstock.node.AdminRequest;
import io.penstock.node.CommandLineRun;
import io.penstock.node.content.KvPattern;
import io.penstock.node.shape.BlockShape;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.PutSource;
import io.penstock.tier.Receipt;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Sinks;
import reactor.netty.resources.LoopResources;
import tools.jackson.databind.json.JsonMapper;

/// A node in a process of its own: its signals, its death, its return.
@Timeout(120)
final class ServeProcessTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  @TempDir
  Path folder;

  @Test
  void commands_againstANodeOfItsOwnProcess_andASecondNodeOnItsPort() throws Exception {
    Path readyFile = folder.resolve("ready.json");
    try (NodeProcess node = NodeProcess.start(folder, "--dram", "50 blocks", "--ready-file", readyFile.toString())) {
      assertThat(node.said())
          .startsWith("serving on 127.0.0.1:" + node.port() + ", admin on http://127.0.0.1:" + node.adminPort());
      assertThat(JsonMapper.shared().readTree(readyFile.toFile())).isEqualTo(node.ready());

      assertThat(run(node, "put", "--count", "20").exitCode()).isZero();
      assertThat(run(node, "get", "--trace-id", "0-19", "--verify", "--discard", "--json").out())
          .startsWith("{\"blocks\":20,\"bytes\":1310720,\"missing\":[],\"different\":[],"
              + "\"carried\":{\"transport\":\"tcp\",\"bytes\":{\"inline\":1310720},\"times\":{\"get\":{\"count\":1,");
      assertThat(run(node, "match", "--trace-id", "0-29").out()).isEqualTo("prefix 20 of 30, present 20\n");
      assertThat(run(node, "stat").out()).containsPattern("\\nblocks +20 of 50\\n");
      assertThat(run(node, "events", "--limit", "20").out().lines()).hasSize(20);
      await(node, () -> http(node, "/metrics").body().contains("penstock_wire_connections 0.0"));
      assertThat(http(node, "/health").body()).contains("\"state\":\"ready\"", "\"blocks\":20,\"capacityBlocks\":50");
      assertThat(http(node, "/metrics").body()).contains(
          "penstock_tier_stored_blocks_total{medium=\"host\",tier=\"dram\"} 20.0",
          "penstock_tier_references_total{medium=\"host\",result=\"hit\",tier=\"dram\"} 20.0",
          "penstock_budget_in_flight_bytes{budget=\"node\"} 0.0", "penstock_wire_connections 0.0",
          "penstock_wire_streams 0.0",
          "jvm_memory_used_bytes", "netty_allocator_memory_used");
      assertPortIsRefused(node);

      node.terminate();

      assertThat(node.exitCode()).isZero();
      assertThat(node.said()).endsWith("draining\n20 blocks in memory alone will be gone\nstopped\n");
      assertThat(readyFile).as("goes with the node").doesNotExist();
    }
  }

  @Test
  void terminated_letsRunningStreamsAndPutsEnd_andTakesNothingNew() throws Exception {
    try (NodeProcess node = NodeProcess.start(folder, "--slice-bytes", "64KiB", "--window-blocks", "8");
        Party reader = new Party(node);
        Party writer = new Party(node)) {
      run(node, "put", "--count", "40");
      reader.read(40);
      assertThat(reader.take()).isNotNull();
      CompletableFuture<List<Receipt>> receipts = writer.put(40);
      assertThat(writer.events.poll(20, TimeUnit.SECONDS)).isEqualTo("held");

      node.terminate();
      await(node, () -> http(node, "/health").statusCode() == 503);

      assertThat(http(node, "/health").body()).contains("\"state\":\"draining\"");
      assertThat(run(node, "stat").exitCode()).isEqualTo(69);
      assertThat(node.isAlive()).isTrue();
      assertThat(reader.takeAll()).isEqualTo(40L * BlockShape.DEFAULT_BLOCK_BYTES);
      assertThat(node.isAlive()).as("a put is under way").isTrue();
      writer.letPutGoOn();
      assertThat(receipts.get(20, TimeUnit.SECONDS)).hasSize(40);
      assertThat(node.exitCode()).isZero();
      assertThat(node.said()).contains("draining\n").endsWith("stopped\n");
    }
  }

  @Test
  void terminated_streamThatDoesNotEnd_isCutAfterTheDrainTimeout() throws Exception {
    try (NodeProcess node = NodeProcess.start(folder, "--slice-bytes", "64KiB", "--drain-timeout", "200ms");
        Party reader = new Party(node)) {
      run(node, "put", "--count", "40");
      reader.read(40);
      assertThat(reader.take()).isNotNull();

      node.terminate();

      assertThat(node.exitCode()).isZero();
      assertThat(node.said()).endsWith("draining\n40 blocks in memory alone will be gone\n"
          + "stopped; streams that went on after drain.timeout were cut\n");
    }
  }

  @Test
  void terminatedTwice_endsAtOnce() throws Exception {
    try (NodeProcess node = NodeProcess.start(folder, "--slice-bytes", "64KiB"); Party reader = new Party(node)) {
      run(node, "put", "--count", "40");
      reader.read(40);
      assertThat(reader.take()).isNotNull();
      node.terminate();
      await(node, () -> node.said().endsWith("draining\n"));

      node.terminate();

      assertThat(node.exitCode()).isEqualTo(128 + 15);
    }
  }

  @Test
  void killed_andStartedAgainOnTheSamePort_serves() throws Exception {
    int port;
    try (NodeProcess node = NodeProcess.start(folder)) {
      port = node.port();
      run(node, "put", "--count", "5");
      FutureTask<CommandLineRun> follower = new FutureTask<>(() -> run(node, "events", "--from", "6"));
      Thread.ofPlatform().daemon().start(follower);
      await(node, () -> http(node, "/metrics").body().contains("penstock_wire_connections 1.0"));
      node.kill();
      assertThat(node.exitCode()).isEqualTo(128 + 9);
      assertThat(follower.get(20, TimeUnit.SECONDS).exitCode()).as(follower.get().err()).isEqualTo(69);
      String address = "127.0.0.1:" + port;
      assertThat(follower.get().err()).containsAnyOf("events: the connection to the node at " + address + " ended",
          "events: no node is listening at " + address); // if it was killed before it greeted
    }

    try (NodeProcess again = NodeProcess.start(folder, "--listen-port", "" + port)) {
      assertThat(run(again, "match", "--trace-id", "0-4").out()).isEqualTo("prefix 0 of 5, present 0\n");
      assertThat(run(again, "put", "--count", "5").exitCode()).isZero();
      assertThat(run(again, "match", "--trace-id", "0-4").out()).isEqualTo("prefix 5 of 5, present 5\n");
    }
  }

  private static void assertPortIsRefused(NodeProcess holder) {
    CommandLineRun second = CommandLineRun.of("serve", "--listen-port", "" + holder.port(), "--admin-port", "off");

    assertThat(second.exitCode()).isEqualTo(74);
    assertThat(second.err()).isEqualTo(
        ("serve: listen.port must be free for this user at 127.0.0.1 (was %d, from --listen-port): Address already in "
            + "use; --listen-port 0 takes any that is free\n")
            .formatted(holder.port()));
  }

  private static CommandLineRun run(NodeProcess node, String... arguments) {
    String[] all = java.util.Arrays.copyOf(arguments, arguments.length + 2);
    all[arguments.length] = "--connect";
    all[arguments.length + 1] = "127.0.0.1:" + node.port();
    return CommandLineRun.of(all);
  }

  private static HttpResponse<String> http(NodeProcess node, String path) throws IOException, InterruptedException {
    return AdminRequest.get(node.adminPort(), path);
  }

  private interface Check {
    boolean holds() throws Exception;
  }

  private static void await(NodeProcess node, Check check) throws Exception {
    long end = System.nanoTime() + SOON.toNanos();
    while (!check.holds()) {
      assertThat(System.nanoTime()).as("in time").isLessThan(end);
      node.pause();
    }
  }

  /// A client that takes one slice at a time, when told to, and puts no more than it is told to.
  private static final class Party implements AutoCloseable {
    private final LoopResources loops = LoopResources.create("reader", 1, true);
    private final CacheSpace space = BlockShape.defaults().space("penstock-demo");
    private final SlabArena arena = new SlabArena("reader", space.layout(), 128, 4);
    private final BlockScope scope = new BlockScope();
    private final BlockingQueue<Object> events = new LinkedBlockingQueue<>();
    private final KvClient client;
    private final BaseSubscriber<LayerSlice> slices = new BaseSubscriber<>() {
      @Override
      protected void hookOnSubscribe(Subscription subscription) {}

      @Override
      protected void hookOnNext(LayerSlice slice) {
        events.add(slice);
      }

      @Override
      protected void hookOnComplete() {
        events.add("complete");
      }

      @Override
      protected void hookOnError(Throwable failure) {
        events.add(failure);
      }
    };
    private final Sinks.Empty<Void> goOn = Sinks.empty();
    private long bytes;

    Party(NodeProcess node) {
      KvClientOptions options = KvClientOptions.builder().creditSlices(1).maxSliceBytes(64 << 10).build();
      client = KvClient
          .connect(TcpTransport.client(TcpClientOptions.to("127.0.0.1", node.port()), loops), options, space, arena,
              new ByteBudget("reader", 1 << 20, 4))
          .block(SOON);
    }

    void read(int blocks) {
      List<BlockKey> keys = LongStream.range(0, blocks).mapToObj(PrefixHasher::ofTraceId).map(space::key).toList();
      client.lease(keys, OnMiss.SKIP, scope).flatMapMany(lease -> lease.slices(scope)).subscribe(slices);
    }

    /// Puts new blocks; from the second window on only when told to go on.
    CompletableFuture<List<Receipt>> put(int blocks) {
      List<BlockKey> keys =
          LongStream.range(1_000, 1_000 + blocks).mapToObj(PrefixHasher::ofTraceId).map(space::key).toList();
      PutSource source = new ProducingSource(arena, SliceShape.Order.LAYER_FIRST,
          (key, range, memory) -> KvPattern.fill(key, space.layout(), range, memory));
      return client.put(keys, window -> window.index() == 0
          ? source.window(window)
          : goOn.asMono().doOnSubscribe(held -> events.add("held")).thenMany(source.window(window))).collectList()
          .toFuture();
    }

    void letPutGoOn() {
      goOn.tryEmitEmpty();
    }

    LayerSlice take() throws InterruptedException {
      slices.request(1);
      Object event = events.poll(20, TimeUnit.SECONDS);
      if (event instanceof LayerSlice slice) {
        bytes += slice.bytes();
        slice.close();
        return slice;
      }
      assertThat(event).isEqualTo("complete");
      return null;
    }

    long takeAll() throws InterruptedException {
      while (take() != null) {
      }
      return bytes;
    }

    @Override
    public void close() {
      slices.cancel();
      client.close().block(SOON);
      scope.close();
      arena.close();
      loops.disposeLater(Duration.ZERO, SOON).block(SOON);
    }
  }
}
