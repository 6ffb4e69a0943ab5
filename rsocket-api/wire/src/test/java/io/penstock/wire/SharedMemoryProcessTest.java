package io.penstock.wire;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.KvException;
import io.penstock.block.SlabArena;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.carrier.PeerMemoryException;
import io.penstock.stack.HostTier;
import io.penstock.system.NativeMemory;
import io.penstock.testkit.Eventually;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.get.PeerBlock;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.transfer.SegmentRegistry;
import io.penstock.wire.transfer.Transfer;
import io.penstock.wire.transfer.TransferBatch;
import io.penstock.wire.transfer.TransferEngine;
import io.penstock.wire.transfer.TransferState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Mono;

/// Two processes that read each other's memory, one of which is killed under traffic: the other one gets the right
/// bytes or a typed error, keeps no block for the dead, and lets the dead one's memory go.
@Timeout(120)
final class SharedMemoryProcessTest {
  @BeforeAll
  static void aSystemWithNativeCalls() {
    assumeTrue(NativeMemory.absence().isEmpty());
  }

  @Test
  void aClientThatIsKilled_keepsNoBlock_andItsMemoryGoes() throws Exception {
    killClients(1);
  }

  @Test
  void aNodeThatIsKilled_endsItsStreamsTyped_andItsMemoryGoes() throws Exception {
    killNodes(1);
  }

  @Test
  void anEngineThatIsKilled_keepsNoSegment_andItsMemoryGoes() throws Exception {
    try (Arena arena = Arena.ofShared(); LeakLedger leaks = new LeakLedger()) {
      SegmentRegistry registry = new SegmentRegistry(1);
      KvServer server = SharedSegmentsPeer.serve(registry, "node-segments");
      int port = Link.SHARED_MEMORY.port(server);
      try (SharedMemoryPeer client = SharedMemoryPeer.begin("batches", "" + port)) {
        assertThat(client.line()).isEqualTo("running");
        assertThat(isMapped("killed-batches") && isMapped("staging")).isTrue();
        client.kill();
        await(() -> server.runningStreams() == 0);
        await(() -> !isMapped("killed-batches"));
      }
      TransferEngine engine = SharedSegmentsPeer.engine(leaks.watch(new ByteBudget("engine", 64 << 20, 64)));
      MemorySegment back = arena.allocate(SharedSegmentsPeer.BYTES);
      assertThat(moved(engine, TransferBatch.builder().read("" + port, "kv", SharedSegmentsPeer.BYTES, back))).isTrue();
      assertThat(isOneOf(back, SharedSegmentsPeer.WRITTEN)).isTrue();
      registry.unregister(registry.snapshot().segments()).block(WireNode.PATIENCE);
      engine.close().block(WireNode.PATIENCE);
      server.close().block(WireNode.PATIENCE);
    }
  }

  private static boolean isOneOf(MemorySegment memory, byte... allowed) {
    boolean[] known = new boolean[256];
    for (byte one : allowed) {
      known[one & 0xFF] = true;
    }
    for (long i = 0; i < memory.byteSize(); i++) {
      if (!known[memory.get(ValueLayout.JAVA_BYTE, i) & 0xFF]) {
        return false;
      }
    }
    return true;
  }

  private static boolean moved(TransferEngine engine, TransferBatch.Builder batch) {
    return requireNonNull(engine.submit(batch.build()).done().block(WireNode.PATIENCE)).isWhole();
  }

  @Test
  void aNodeThatIsKilled_endsItsItemsTyped_andItsSegmentsGo() throws Exception {
    try (Arena arena = Arena.ofShared();
        LeakLedger leaks = new LeakLedger();
        ChunkSource shared = ChunkSource.shared("batches");
        SharedMemoryPeer node = SharedMemoryPeer.begin("segments")) {
      int port = Integer.parseInt(node.line());
      TransferEngine engine = SharedSegmentsPeer.engine(leaks.watch(new ByteBudget("engine", 64 << 20, 64)));
      TransferBatch batch = SharedSegmentsPeer.batch(port, arena, shared.chunk(SharedSegmentsPeer.BYTES));
      AtomicLong rounds = new AtomicLong();
      CompletableFuture<Transfer.BatchResult> failed = SharedSegmentsPeer.endless(engine, batch)
          .doOnNext(result -> rounds.incrementAndGet()).filter(result -> !result.isWhole()).next().toFuture();
      await(() -> rounds.get() > 20);
      assertThat(isMapped("killed-segments")).isTrue();

      node.kill();

      Transfer.BatchResult result = failed.get(WireNode.PATIENCE.toSeconds(), TimeUnit.SECONDS);
      assertThat(result.count(TransferState.FAILED)).isPositive();
      assertThat(result.firstError()).isInstanceOf(KvException.class);
      await(() -> !isMapped("killed-segments"));
      for (TransferBatch.Item item : batch.items()) { // a read that failed has bytes of the segment or those before
        assertThat(isOneOf(item.local().getFirst(), SharedSegmentsPeer.WRITTEN, SharedSegmentsPeer.READABLE, (byte) 0))
            .isTrue();
      }
      engine.close().block(WireNode.PATIENCE);
    }
  }

  @Tag("proof")
  @Timeout(3600)
  @Test
  void eitherKilled_aHundredTimes_holds() throws Exception {
    killClients(100);
    killNodes(100);
  }

  private static void killClients(int times) throws Exception {
    Random random = new Random(1);
    HostTier tier = SharedMemoryPeer.tier("node");
    KvServer server = SharedMemoryPeer.serve(tier);
    for (int i = 0; i < times; i++) {
      try (SharedMemoryPeer client = SharedMemoryPeer.begin("client", "" + Link.SHARED_MEMORY.port(server))) {
        assertThat(client.line()).isEqualTo("running");
        assertThat(isMapped("killed-client")).isTrue();
        awaitMoved(tier, 1 + random.nextInt(500));
        client.kill();
        await(() -> server.runningStreams() == 0);
        await(() -> tier.arena().claimedSlots() == tier.stat().blockOptional().orElseThrow().blocks());
        await(() -> !isMapped("killed-client"));
      }
    }
    server.close().block(WireNode.PATIENCE);
    tier.close().block(WireNode.PATIENCE);
  }

  private static void awaitMoved(HostTier tier, long hits) {
    long before = tier.stat().blockOptional().orElseThrow().hits();
    await(() -> tier.stat().blockOptional().orElseThrow().hits() >= before + hits);
  }

  private static void killNodes(int times) throws Exception {
    Random random = new Random(2);
    for (int i = 0; i < times; i++) {
      try (SharedMemoryPeer node = SharedMemoryPeer.begin("node");
          SlabArena arena = SharedMemoryPeer.arena("client");
          LeakLedger leaks = new LeakLedger()) {
        KvClient client = SharedMemoryPeer.connect(Integer.parseInt(node.line()), arena);
        leaks.watch("slots of the client", arena::claimedSlots);
        Mono<Long> both =
            SharedMemoryPeer.put(client, 0).then(SharedMemoryPeer.get(client, 0));
        assertThat(both.block(WireNode.PATIENCE))
            .isEqualTo((long) SharedMemoryPeer.BLOCKS * SharedMemoryPeer.SPACE.layout().blockBytes());
        assertThat(isMapped("killed-node")).isTrue();
        PeerBlock borrowed = SharedMemoryPeer.borrow(client, 1).getFirst();
        AtomicLong rounds = new AtomicLong();
        CompletableFuture<Void> traffic = Mono.when(
            SharedMemoryPeer.get(client, 0).doOnNext(bytes -> rounds.incrementAndGet()).repeat(),
            SharedMemoryPeer.getOneByOne(client).repeat(),
            SharedMemoryPeer.put(client, 1_000).then(SharedMemoryPeer.put(client, 2_000)).repeat()).toFuture();
        long until = random.nextInt(50);
        await(() -> rounds.get() > until);
        node.kill();
        assertThat(failure(traffic)).isInstanceOf(KvException.class);
        await(() -> !isMapped("killed-node") && !isMapped("answers"));
        assertThatThrownBy(() -> SharedMemoryPeer.assertBytes(borrowed)).isInstanceOf(PeerMemoryException.class);
        client.close().block(WireNode.PATIENCE);
      }
    }
  }

  private static Throwable failure(CompletableFuture<?> call) throws Exception {
    try {
      call.get(WireNode.PATIENCE.toSeconds(), TimeUnit.SECONDS);
      throw new AssertionError("a call to a killed node must fail (did not)");
    } catch (ExecutionException e) {
      return e.getCause();
    }
  }

  private static boolean isMapped(String name) {
    try {
      return Files.readString(Path.of("/proc/self/maps")).contains("memfd:penstock-" + name);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void await(BooleanSupplier condition) {
    Eventually.holds("the condition holds", condition::getAsBoolean);
  }
}
