package io.penstock.wire.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

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
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.PutSource;
import io.penstock.tier.Receipt;
import io.penstock.tier.TierListener;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.RemoteTier;
import io.penstock.wire.protocol.Limits;
import io.rsocket.transport.netty.client.TcpClientTransport;
import io.rsocket.transport.netty.server.CloseableChannel;
import io.rsocket.transport.netty.server.TcpServerTransport;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// A client and a server of the wire over real loopback sockets.
@Timeout(60)
final class KvServerTest {
  private static final BlockLayout LAYOUT = BlockLayout.attention(8, 64, 2, 16, ElementType.BF16);
  private static final CacheSpace SPACE = CacheSpace.of("wire-test", LAYOUT);
  private static final int SLICE_BYTES = 64 << 10;
  private static final int WINDOW = 8;

  private final LeakLedger leaks = new LeakLedger();
  private final Scheduler timers = Schedulers.newSingle("timers");
  private final HostTier tier =
      new HostTier(SPACE, 100, StackOptions.defaults("dram").withIngressBlocks(2 * WINDOW), TierListener.noop());
  private final ByteBudget ingress = leaks.watch(new ByteBudget("ingress", 8 * SLICE_BYTES, 64));
  private final SlabArena arena = leaks.watch(new SlabArena("client", LAYOUT, 64, 64));
  private final ByteBudget budget = leaks.watch(new ByteBudget("client", 8 * SLICE_BYTES, 64));
  private KvServer server;
  private KvClient client;

  @BeforeEach
  void connect() {
    server = KvServer.bind(TcpServerTransport.create("127.0.0.1", 0), tier,
        KvServerOptions.defaults()
            .withLimits(Limits.defaults().withMaxSliceBytes(SLICE_BYTES).withWindowBlocks(WINDOW)),
        ingress,
        timers).block();
    client = open();
  }

  private KvClient open() {
    return KvClient.connect(TcpClientTransport.create(((CloseableChannel) server.listening()).address()),
        KvClientOptions.builder().maxSliceBytes(SLICE_BYTES).windowBlocks(WINDOW).build(), SPACE, arena, budget)
        .block();
  }

  @AfterEach
  void nothingLeaks() {
    client.close().block();
    server.close().block();
    tier.close().block();
    timers.dispose();
    leaks.watch("slots of the tier", tier.arena()::claimedSlots);
    leaks.awaitEmpty(LeakLedger.PATIENCE);
    leaks.close();
  }

  private List<Receipt> put(List<BlockKey> keys) {
    PutSource source = new ProducingSource(arena, SliceShape.Order.LAYER_FIRST,
        (key, range, memory) -> Blocks.fill(key, range.offset(LAYOUT), memory));
    return client.put(keys, source).collectList().block();
  }

  @Test
  void put_thenGet_returnsEveryByte() {
    List<BlockKey> keys = Blocks.keys(SPACE, 0, 37);

    assertEquals(37, put(keys).size());

    assertEquals(37, client.match(keys).block());
    AtomicLong bytes = new AtomicLong();
    Flux.using(BlockScope::new, scope -> client.lease(keys, OnMiss.SKIP, scope).flatMapMany(lease -> {
      assertEquals(37, lease.found().prefix());
      return lease.slices(scope).doOnNext(slice -> {
        slice.spans().forEach(Blocks::assertBytes);
        bytes.addAndGet(slice.bytes());
        slice.close();
      });
    }), BlockScope::close).blockLast();
    assertEquals(37L * LAYOUT.blockBytes(), bytes.get());
  }

  @Test
  void get_admitting_deliversWhatAnotherConnectionPuts() {
    List<BlockKey> keys = Blocks.keys(SPACE, 0, 40);
    put(keys.subList(0, 5));
    KvClient prefill = open();
    AtomicLong bytes = new AtomicLong();
    Mono<Long> delivered =
        Flux.using(BlockScope::new, scope -> client.lease(keys, OnMiss.ADMIT, scope).flatMapMany(lease -> {
          assertEquals(5, lease.hits().count());
          List<BlockKey> missing = lease.admitted().bits().stream().mapToObj(keys::get).toList();
          PutSource source = new ProducingSource(arena, SliceShape.Order.LAYER_FIRST,
              (key, range, memory) -> Blocks.fill(key, range.offset(LAYOUT), memory));
          return Flux.merge(prefill.put(missing, source).then(Mono.<Long>empty()),
              lease.slices(scope).doOnNext(slice -> {
                slice.spans().forEach(Blocks::assertBytes);
                bytes.addAndGet(slice.bytes());
                slice.close();
              }).then(Mono.fromSupplier(bytes::get)));
        }), BlockScope::close).last();

    assertEquals(40L * LAYOUT.blockBytes(), delivered.block(Duration.ofSeconds(20)));
    prefill.close().block();
  }

  @Test
  void get_cancelledAtAnySlice_leaksNothing() {
    get_cancelledAtAnySlice_leaksNothing(100);
  }

  @Tag("proof")
  @Test
  void get_cancelledAtAnySlice_leaksNothing_atLength() {
    get_cancelledAtAnySlice_leaksNothing(500);
  }

  private void get_cancelledAtAnySlice_leaksNothing(int times) {
    List<BlockKey> keys = Blocks.keys(SPACE, 0, 60);
    put(keys);
    for (int i = 0; i < times; i++) {
      int taken = i % 9;
      Flux.using(BlockScope::new,
          scope -> client.lease(keys, OnMiss.SKIP, scope).flatMapMany(lease -> lease.slices(scope)).take(taken),
          BlockScope::close).blockLast();
    }
  }

  @Test
  void remoteTier_getsWholeBlocks() {
    List<BlockKey> keys = Blocks.keys(SPACE, 0, 20);
    put(keys);
    List<BlockKey> got =
        Flux.using(BlockScope::new, scope -> new RemoteTier(client, SPACE).get(keys, scope).map(block -> {
          Blocks.assertBytes(block);
          block.close();
          return block.key();
        }), BlockScope::close).collectList().block();
    assertEquals(keys, got);
  }

}
