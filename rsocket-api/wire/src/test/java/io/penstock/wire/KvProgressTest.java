package io.penstock.wire;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.flow.ProducingSource;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierListener;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.RemoteTier;
import io.penstock.wire.protocol.ControlCodec;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.RequestMetadata;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.slice.SliceHeader;
import io.penstock.wire.transport.ConnectionGauges;
import io.penstock.wire.transport.ConnectionListener;
import io.penstock.wire.transport.tcp.TcpListener;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.core.RSocketConnector;
import io.rsocket.frame.decoder.PayloadDecoder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// Whatever the shapes and however small the budgets, everything asked for arrives, whole, and never more at a time
/// than was allowed.
@Timeout(120)
final class KvProgressTest {
  private static final BlockLayout SMALL = BlockLayout.attention(4, 16, 2, 16, ElementType.BF16);
  /// A granule of 8 KiB: two slices.
  private static final BlockLayout CUT = BlockLayout.attention(2, 128, 2, 16, ElementType.BF16);
  private static final BlockLayout LATENT = BlockLayout.latent(3, 16, 64, 8, ElementType.FP8_E4M3);
  private static final CacheSpace SPACE = CacheSpace.of("progress", SMALL);

  /// Every layout with one window, every window with a layout.
  @ParameterizedTest
  @EnumSource
  void everyShape_roundTrips(Link link) {
    roundTrip(link, SMALL, 64);
    roundTrip(link, CUT, 7);
    roundTrip(link, CUT.withOrder(TokenOrder.HND), 64);
    roundTrip(link, LATENT, 1);
  }

  @Tag("proof")
  @ParameterizedTest
  @EnumSource
  void everyShapeWithEveryWindow_roundTrips(Link link) {
    for (BlockLayout layout : List.of(SMALL, CUT, CUT.withOrder(TokenOrder.HND), LATENT)) {
      roundTrip(link, layout, 1, 7, 64);
    }
  }

  private static void roundTrip(Link link, BlockLayout layout, int... windows) {
    for (int window : windows) {
      try (WireNode node = WireNode.of(link, CacheSpace.of("shape", layout), window)) {
        List<BlockKey> keys = node.keys(0, 15);
        for (SliceShape.Order order : SliceShape.Order.values()) {
          KvClient client = node.client(WireNode.asking(window).order(order).build(),
              node.arena(Math.max(15, window)), node.budget(2));
          assertEquals(15L,
              client.put(keys, node.source((SlabArena) client.arena(), order)).count().block(WireNode.PATIENCE));
          assertEquals(15L * layout.blockBytes(), node.get(client, keys, OnMiss.SKIP).block(WireNode.PATIENCE),
              () -> layout + " " + order);
          node.requireHonestTier(keys);
          for (int start : new int[] {1, layout.layers() - 1}) {
            KvClient late =
                node.client(WireNode.asking(window).order(order).startLayer(start).build(), node.arena(window),
                    node.budget(1));
            assertEquals(15L * layout.layerBytes() * (layout.layers() - start),
                node.get(late, keys, OnMiss.SKIP).block(WireNode.PATIENCE), layout + " " + order + " from " + start);
          }
          node.tier.remove(keys).block();
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void wholeBlocks_readSlowly_allCome(Link link) {
    try (WireNode node = WireNode.of(link, SPACE, 2)) {
      KvClient client = node.client(WireNode.clientOptions(2), node.arena(64), node.budget(64));
      List<BlockKey> keys = node.keys(0, 30);
      node.put(client, keys);
      List<BlockKey> read = Flux.using(BlockScope::new,
          scope -> new RemoteTier(client, SPACE).lease(keys, OnMiss.SKIP, scope)
              .flatMapMany(lease -> lease.windows(3, scope))
              .concatMap(window -> Mono.delay(Duration.ofMillis(5)).thenMany(Flux.fromIterable(window)), 0)
              .map(leased -> {
                Blocks.assertBytes(leased.block());
                leased.block().close();
                return leased.block().key();
              }),
          BlockScope::close).collectList().block(WireNode.PATIENCE);
      assertEquals(keys, read);
    }
  }

  /// Eight gets and eight puts at a time, of random keys: budgets of one slice, memory for one window where gets land.
  @ParameterizedTest
  @EnumSource
  void manyStreams_throughBudgetsOfOneSlice_allEnd(Link link) {
    manyStreams(link, 6);
  }

  @Tag("proof")
  @Timeout(600)
  @ParameterizedTest
  @EnumSource
  void manyStreamsTwoThousandTimes_throughBudgetsOfOneSlice_allEnd(Link link) {
    manyStreams(link, 2_000);
  }

  private static void manyStreams(Link link, int rounds) {
    int window = 4;
    Scheduler timers = Schedulers.newSingle("timers", true);
    KvServerOptions options = WireNode.options(window).withSendWindowBytes(WireNode.SLICE_BYTES).withWindowsAhead(1);
    try (WireNode node = new WireNode(link, SPACE, 24, StackOptions.defaults("dram").withIngressBlocks(window), options,
        2 * WireNode.SLICE_BYTES, timers)) {
      SlabArena landing = node.arena(window);
      ByteBudget budget = node.budget(1);
      KvClient reader = node.client(WireNode.clientOptions(window), landing, budget);
      // One a put, see ProducingSource
      KvClient writer = node.client(WireNode.clientOptions(window), node.arena(8 * window), node.budget(1));
      node.put(writer, node.keys(0, 24));
      AtomicLong bytes = new AtomicLong();
      List<CompletableFuture<Void>> all = new ArrayList<>();
      for (int i = 0; i < 16; i++) {
        SplittableRandom random = new SplittableRandom(i);
        boolean gets = i % 2 == 0;
        SliceShape.Order order = SliceShape.Order.values()[i / 2 % 2];
        Mono<Void> once = Mono.defer(() -> {
          List<BlockKey> keys = node.keys(0, 40).subList(random.nextInt(20), random.nextInt(21, 40));
          return gets
              ? node.get(reader, keys, OnMiss.SKIP).doOnNext(bytes::addAndGet).then()
              : writer.put(keys, node.source((SlabArena) writer.arena(), order)).then();
        });
        all.add(once.repeat(rounds - 1).then().toFuture()); // one after the other, each to its end
      }
      CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).orTimeout(500, TimeUnit.SECONDS).join();
      assertTrue(bytes.get() > 0);
      assertEquals(WireNode.SLICE_BYTES, budget.peakBytes());
      assertTrue(node.ingress.peakBytes() <= 2 * WireNode.SLICE_BYTES, "one slice each way");
      assertEquals(window, landing.highWaterSlots());
      node.requireHonestTier(node.keys(0, 40));
    }
  }

  /// A stream that waits for a block holds no room of the send window: others of its connection go on.
  @ParameterizedTest
  @EnumSource
  void streamThatAwaits_starvesNoOther(Link link) {
    KvServerOptions options = WireNode.options(4).withSendWindowBytes(WireNode.SLICE_BYTES);
    try (WireNode node =
        new WireNode(link, SPACE, 64, StackOptions.defaults("dram").withIngressBlocks(16), options, 1 << 20,
            Schedulers.newSingle("timers", true))) {
      KvClient client = node.client(4);
      node.put(client, node.keys(0, 10));
      List<CompletableFuture<Long>> waiting = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        waiting.add(node.get(client, node.keys(20, 22), OnMiss.ADMIT).toFuture());
      }
      assertEquals(10L * SMALL.blockBytes(), node.get(client, node.keys(0, 10), OnMiss.SKIP).block(WireNode.PATIENCE));
      assertEquals(2, node.put(client, node.keys(20, 22)).size());
      CompletableFuture.allOf(waiting.toArray(CompletableFuture[]::new)).orTimeout(20, TimeUnit.SECONDS).join();
    }
  }

  /// A client that asks for 2³¹-1 slices gets them at the speed of its socket: the server queues its send window and no
  /// more.
  @Test
  void clientThatAsksForEverything_isBoundedByTheSendWindow() throws InterruptedException {
    int window = 64;
    BlockLayout layout = BlockLayout.attention(8, 64, 2, 64, ElementType.BF16);
    CacheSpace space = CacheSpace.of("flood", layout);
    long sendWindow = 512 << 10;
    List<ConnectionGauges> gauges = new CopyOnWriteArrayList<>();
    LoopResources loops = LoopResources.create("flood", 1, 1, true);
    ByteBudget ingress = new ByteBudget("ingress", 1 << 20, 8);
    Scheduler timers = Schedulers.newSingle("timers", true);
    LeakLedger leaks = new LeakLedger();
    HostTier tier = new HostTier(space, 256, TierListener.noop());
    fill(tier, Blocks.keys(space, 0, 128));
    KvServer server = requireNonNull(
        KvServer.bind(TcpTransport.server(TcpServerOptions.on("127.0.0.1", 0), loops, new ConnectionListener() {
          @Override
          public void opened(ConnectionGauges connection) {
            gauges.add(connection);
          }
        }), tier,
            KvServerOptions.defaults().withLimits(new Limits(128 << 10, window, 256)).withSendWindowBytes(sendWindow),
            ingress, timers)
            .block(WireNode.PATIENCE));
    try (Relay relay = Relay.to(((TcpListener) server.listening()).port(), Relay.Fault.none(), true)) {
      RSocket raw = requireNonNull(
          RSocketConnector.create().payloadDecoder(PayloadDecoder.ZERO_COPY).dataMimeType("application/cbor")
              .metadataMimeType(RequestMetadata.COMPOSITE).connect(Link.STOCK.client(relay.port()))
              .block(WireNode.PATIENCE));
      long[] bytes = new long[1];
      CompletableFuture<Void> all = raw
          .requestStream(WireNode.request(ControlCodec.CBOR, Routes.GET, new Messages.GetRequest(
              Messages.Keys.of(Blocks.keys(space, 0, 128)), "SKIP", "LAYER_FIRST", 0, 128 << 10, window, 1)))
          .doOnNext(payload -> {
            bytes[0] += sliceBytes(payload);
            payload.release();
          }).then().toFuture();
      long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(1500);
      long queued = 0;
      while (System.nanoTime() < deadline) {
        for (ConnectionGauges gauge : gauges) {
          queued = Math.max(queued, queuedBytes(gauge));
        }
      }
      // Netty counts a frame among its bytes until after it released it, and the release lets the next slice in: one
      // slice counts twice.
      long bound = sendWindow + (128 << 10) + (64 << 10);
      assertTrue(queued > 0 && queued <= bound,
          "bytes queued must be <= " + bound + ", the window and headers (was " + queued + ")");
      long settled = gauges.stream().mapToLong(gauge -> gauge.channelBytes() + gauge.queuedBytes()).max().orElse(0);
      assertTrue(settled <= sendWindow + (64 << 10),
          "bytes still queued must be <= " + sendWindow + " and headers (was " + settled + ")");
      assertTrue(!all.isDone(), "the link stands still");
      relay.flow();
      all.orTimeout(30, TimeUnit.SECONDS).join();
      assertEquals(128L * layout.blockBytes(), bytes[0]);
      raw.dispose();
    } finally {
      server.close().block(WireNode.PATIENCE);
      tier.close().block();
      leaks.watch("slots of the tier", tier.arena()::claimedSlots);
      leaks.watch(ingress);
      leaks.close();
      timers.dispose();
      loops.disposeLater().block(WireNode.PATIENCE);
    }
  }

  /// Bytes that wait for the socket at one moment, or 0 if frames moved while they were counted.
  private static long queuedBytes(ConnectionGauges gauge) {
    long written = gauge.writtenBytes();
    long inChannel = gauge.channelBytes();
    long queued = gauge.queuedBytes();
    boolean still =
        written == gauge.writtenBytes() && inChannel == gauge.channelBytes() && queued == gauge.queuedBytes();
    Thread.yield();
    return still ? inChannel + queued : 0;
  }

  private static long sliceBytes(Payload payload) {
    ByteBuf data = payload.sliceData();
    boolean slice =
        data.readableBytes() > SliceHeader.TABLES_OFFSET && data.getIntLE(data.readerIndex()) == SliceHeader.MAGIC;
    return slice ? data.getIntLE(data.readerIndex() + SliceHeader.PAYLOAD_BYTES_OFFSET) : 0;
  }

  private static void fill(HostTier tier, List<BlockKey> keys) {
    try (BlockScope scope = new BlockScope()) {
      var reservation = requireNonNull(tier.reserve(keys, scope).block());
      reservation.drafts().forEach(draft -> {
        draft.write(GranuleRange.all(draft.layout()), memory -> memory.fill((byte) 7));
        draft.produced(GranuleRange.all(draft.layout()));
      });
      reservation.commit(reservation.drafts()).block();
    }
  }
}
