package io.penstock.wire;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.KvException;
import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.Eventually;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Reservation;
import io.penstock.tier.StackOptions;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.get.RemoteLease;
import io.penstock.wire.protocol.WireFailure.AwaitTimeoutException;
import io.penstock.wire.protocol.WireFailure.ConnectionLostException;
import io.penstock.wire.protocol.WireFailure.DrainingException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

/// What our client sees of streams: writers side by side, blocks that are awaited, a node that drains, fails or closes.
@Timeout(60)
final class KvStreamsTest {
  private static final BlockLayout LAYOUT = BlockLayout.attention(4, 16, 2, 16, ElementType.BF16);
  private static final CacheSpace SPACE = new CacheSpace("protocol", LAYOUT, 1, "salt");
  private static final int WINDOW = 4;
  private static final Duration PATIENCE = WireNode.PATIENCE;

  private static WireNode node(Link link) {
    return WireNode.of(link, SPACE, WINDOW);
  }

  @ParameterizedTest
  @EnumSource
  void put_ofPresentKeys_isSkippedWithoutAReceipt(Link link) {
    try (WireNode node = node(link)) {
      KvClient client = node.client(WINDOW);
      node.put(client, node.keys(2, 5));
      assertEquals(node.keys(0, 10).size() - 3, node.put(client, node.keys(0, 10)).size());
      assertEquals(List.of(), node.put(client, node.keys(0, 10)));
      assertEquals(List.of(), node.put(client, List.of()));
      assertEquals(0, client.match(List.of()).block(PATIENCE));
      assertEquals(10L * LAYOUT.blockBytes(), node.get(client, node.keys(0, 10), OnMiss.SKIP).block(PATIENCE));
      assertEquals(0L, node.get(client, List.of(), OnMiss.SKIP).block(PATIENCE));
    }
  }

  @ParameterizedTest
  @EnumSource
  void twoWriters_ofTheSameKeys_storeEachOnce(Link link) {
    try (WireNode node = node(link)) {
      KvClient one = node.client(WINDOW);
      KvClient other = node.client(WINDOW);
      List<BlockKey> keys = node.keys(0, 30);
      for (int round = 0; round < 5; round++) {
        Mono<Long> first = one.put(keys, node.source((SlabArena) one.arena(), SliceShape.Order.LAYER_FIRST)).count();
        Mono<Long> second =
            other.put(keys.reversed(), node.source((SlabArena) other.arena(), SliceShape.Order.BLOCK_FIRST)).count();
        long receipts = requireNonNull(Mono.zip(first, second, Long::sum).block(PATIENCE));
        assertEquals(30L, receipts);
        node.requireHonestTier(keys);
        assertEquals(30, requireNonNull(one.remove(keys).block(PATIENCE)).count());
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void awaitedBlock_whoseWriterDies_isLeftOut(Link link) {
    try (WireNode node = node(link)) {
      List<BlockKey> keys = node.keys(0, 6);
      KvClient client = node.client(WINDOW);
      node.put(client, keys.subList(0, 3));
      BlockScope writing = new BlockScope();
      Reservation writer = requireNonNull(node.tier.reserve(keys.subList(3, 6), writing).block(PATIENCE));
      CompletableFuture<Long> bytes = node.get(client, keys, OnMiss.AWAIT).toFuture();
      Eventually.holds("the blocks are read", () -> requireNonNull(node.tier.stat().block()).hits() >= 3);
      Blocks.produce(writer.drafts().getFirst());
      writer.commit(writer.drafts().subList(0, 1)).block(PATIENCE);
      writing.close();
      assertEquals(4L * LAYOUT.blockBytes(), bytes.orTimeout(20, TimeUnit.SECONDS).join());
    }
  }

  @ParameterizedTest
  @EnumSource
  void awaitedBlock_thatDoesNotCome_timesOut(Link link) {
    VirtualTimeScheduler time = VirtualTimeScheduler.create();
    try (
        WireNode node =
            new WireNode(link, SPACE, 64, StackOptions.defaults("dram").withIngressBlocks(16),
                WireNode.options(WINDOW).withStallTimeout(Duration.ofDays(20_000)), 1 << 20, time);
        BlockScope writing = new BlockScope()) {
      node.tier.reserve(node.keys(0, 1), writing).block(PATIENCE);
      KvClient client = node.client(WINDOW);
      CompletableFuture<Long> bytes = node.get(client, node.keys(0, 1), OnMiss.AWAIT).toFuture();
      long deadline = System.nanoTime() + PATIENCE.toNanos();
      while (!bytes.isDone() && System.nanoTime() < deadline) {
        time.advanceTimeBy(Duration.ofSeconds(61));
        Thread.onSpinWait();
      }
      Throwable e = assertThrows(ExecutionException.class, bytes::get).getCause();
      assertEquals("awaited blocks", assertInstanceOf(AwaitTimeoutException.class, e).what());
    }
  }

  @ParameterizedTest
  @EnumSource
  void draining_refusesNewWork_andLetsOldEnd(Link link) {
    try (WireNode node = node(link)) {
      KvClient client = node.client(WINDOW);
      List<BlockKey> keys = node.stored(client, 20);
      BlockScope scope = new BlockScope();
      RemoteLease lease = requireNonNull(client.lease(keys, OnMiss.SKIP, scope).block(PATIENCE));
      node.server.drain();
      for (Mono<?> work : List.of(node.get(client, node.keys(0, 1), OnMiss.SKIP), client.remove(node.keys(0, 1)),
          client.put(node.keys(0, 1), window -> Flux.empty()).then())) {
        assertThrows(DrainingException.class, () -> work.block(PATIENCE));
      }
      CompletableFuture<Void> drained = node.server.drained().toFuture();
      assertFalse(drained.isDone());
      assertEquals(20L * LAYOUT.blockBytes(), lease.slices(scope).map(slice -> {
        slice.close();
        return (long) slice.bytes();
      }).reduce(0L, Long::sum).block(PATIENCE));
      scope.close();
      drained.orTimeout(20, TimeUnit.SECONDS).join();
      assertThrows(KvException.class, () -> node.client(WINDOW));
    }
  }

  @ParameterizedTest
  @EnumSource
  void drained_meansThatTheSourceHoldsNothing(Link link) {
    try (WireNode node = node(link)) {
      KvClient client = node.client(WINDOW);
      List<BlockKey> keys = node.stored(client, 40);
      for (int taken = 0; taken < 20; taken++) {
        BlockScope scope = new BlockScope();
        RemoteLease lease = requireNonNull(client.lease(keys, OnMiss.SKIP, scope).block(PATIENCE));
        lease.slices(scope).take(taken).blockLast(PATIENCE);
        scope.close();
        lease.drained().block(PATIENCE);
        var stat = requireNonNull(node.tier.stat().block());
        node.tier.remove(keys).block();
        assertEquals(0, node.tier.arena().claimedSlots(), "after " + taken + " of " + stat);
        node.put(client, keys);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void corruptMemory_isATypedError_andTheRetryIsAMiss(Link link) {
    try (WireNode node = node(link)) {
      KvClient client = node.client(WINDOW);
      List<BlockKey> keys = node.stored(client, 12);
      try (BlockScope scope = new BlockScope()) {
        Block block = requireNonNull(node.tier.get(List.of(keys.get(9)), scope).blockFirst(PATIENCE));
        Blocks.corrupt(block, 4321);
      }
      BlockCorruptException e =
          assertThrows(BlockCorruptException.class, () -> node.get(client, keys, OnMiss.SKIP).block(PATIENCE));
      assertEquals(keys.get(9), e.key());
      assertEquals(11L * LAYOUT.blockBytes(), node.get(client, keys, OnMiss.SKIP).block(PATIENCE));
      assertEquals(1, node.put(client, keys).size());
      assertEquals(12L * LAYOUT.blockBytes(), node.get(client, keys, OnMiss.SKIP).block(PATIENCE));
    }
  }

  @ParameterizedTest
  @EnumSource
  void close_failsWhatRuns_withALostConnection(Link link) {
    try (WireNode node = node(link)) {
      KvClient client = node.client(WINDOW);
      node.put(client, node.keys(0, 5));
      List<CompletableFuture<?>> running = Stream.<Mono<?>>of(client.events(0).then(),
          client.put(node.keys(10, 12), window -> Flux.never()).then()).<CompletableFuture<?>>map(Mono::toFuture)
          .toList();
      client.close().block(PATIENCE);
      for (CompletableFuture<?> each : running) {
        Throwable e = assertThrows(ExecutionException.class,
            () -> each.get(20, TimeUnit.SECONDS)).getCause();
        assertTrue(e instanceof ConnectionLostException, String.valueOf(e));
      }
      assertThrows(ConnectionLostException.class, () -> client.match(node.keys(0, 1)).block(PATIENCE));
      assertThrows(ConnectionLostException.class, () -> node.put(client, node.keys(20, 21)));
      assertThrows(ConnectionLostException.class, () -> node.get(client, node.keys(0, 1), OnMiss.SKIP).block(PATIENCE));
    }
  }
}
