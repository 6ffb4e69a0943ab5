package io.penstock.wire;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.flow.ProducingSource;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.Eventually;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.HostTier;
import io.penstock.tier.OnMiss;
import io.penstock.tier.StackOptions;
import io.penstock.tier.TierListener;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.simulate.Direction;
import io.penstock.wire.simulate.LinkFault;
import io.penstock.wire.simulate.LinkPlan;
import io.penstock.wire.simulate.SimulatedLink;
import io.penstock.wire.simulate.SimulatedTime;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/// Gets and puts share one budget: never more than it in flight, a reader that takes nothing holds its window and no
/// more, and puts go on beside it.
@Timeout(60)
final class SharedBudgetTest {
  private static final int SLICE_BYTES = 4096;
  private static final int WINDOW = 4;
  private static final int BLOCKS = 20;
  private static final Duration SOON = Duration.ofSeconds(10);
  private static final Duration STALL = Duration.ofSeconds(30);
  private static final CacheSpace SPACE =
      CacheSpace.of("shared", BlockLayout.attention(4, 16, 2, 16, ElementType.BF16));

  /// Readers whose link stands still, and a writer, under many seeds.
  @Test
  void readersThatStall_keepNoWriterFromTheBudget_andHoldTheirWindow() {
    readersThatStall_keepNoWriterFromTheBudget_andHoldTheirWindow(12);
  }

  @Tag("proof")
  @Test
  void readersThatStall_keepNoWriterFromTheBudget_andHoldTheirWindow_atLength() {
    readersThatStall_keepNoWriterFromTheBudget_andHoldTheirWindow(50);
  }

  private void readersThatStall_keepNoWriterFromTheBudget_andHoldTheirWindow(int seeds) {
    for (int seed = 0; seed < seeds; seed++) {
      try (LeakLedger leaks = new LeakLedger()) {
        new StalledReaders(seed, leaks).run();
      }
    }
  }

  private static List<BlockKey> keys(long from, long to) {
    return Blocks.keys(SPACE, from, to);
  }

  /// A node under one seed, readers on links that stand still for a while, and a writer.
  private static final class StalledReaders {
    private final LeakLedger leaks;
    private final SimulatedTime time;
    private final HostTier tier = new HostTier(SPACE, 256, TierListener.noop());
    private final int readers;
    private final long windowBytes;
    private final ByteBudget budget;
    private final SimulatedLink link;

    StalledReaders(int seed, LeakLedger leaks) {
      SplittableRandom random = new SplittableRandom(seed);
      this.leaks = leaks;
      this.time = new SimulatedTime(seed);
      this.readers = random.nextInt(1, 5);
      this.windowBytes = (long) SLICE_BYTES * random.nextInt(1, 5);
      this.budget = leaks.watch(new ByteBudget("node", (long) SLICE_BYTES * random.nextInt(2, 12), 64));
      LinkPlan quiet = LinkPlan.quiet().withWindowBytes(SLICE_BYTES);
      int atFrame = random.nextInt(3, 8);
      this.link = new SimulatedLink(time, "link", UnpooledByteBufAllocator.DEFAULT,
          number -> number == 0 || number > readers
              ? quiet
              : quiet.withFaults(new LinkFault.Stall(Direction.DOWN, atFrame, STALL)),
          event -> {});
    }

    void run() {
      try (var _ = time.captureDefaults()) {
        KvServerOptions options = KvServerOptions.defaults().withLimits(new Limits(SLICE_BYTES, WINDOW, 256))
            .withSendWindowBytes(windowBytes).withStallTimeout(STALL.multipliedBy(10));
        KvServer server = now(KvServer.bind(link.server(), tier, options, budget, time.scheduler()));
        KvClient writer = connect();
        now(put(writer, keys(0, BLOCKS)));
        List<KvClient> stalling = IntStream.range(0, readers).mapToObj(i -> connect()).toList();
        List<CompletableFuture<Long>> gets = stalling.stream().map(reader -> get(reader).toFuture()).toList();
        time.advance(Duration.ofSeconds(1));
        assertThat(gets).noneMatch(CompletableFuture::isDone);
        assertThat(budget.inUseBytes()).isLessThanOrEqualTo(readers * windowBytes);
        assertThat(now(writer.stat()).outgoingBytes()).isEqualTo(budget.inUseBytes());

        now(put(writer, keys(BLOCKS, 3 * BLOCKS))); // while all readers stand still

        // A reader that waited behind the others stands still after them
        assertThat(time.runUntil(() -> gets.stream().allMatch(CompletableFuture::isDone),
            STALL.multipliedBy(readers).plus(SOON))).as("all gets end").isTrue();
        assertThat(gets).allMatch(get -> get.getNow(0L) == (long) BLOCKS * SPACE.layout().blockBytes());
        assertThat(budget.peakBytes()).isLessThanOrEqualTo(budget.capacityBytes());
        assertThat(budget.inUseBytes()).isZero();
        stalling.forEach(reader -> now(reader.close()));
        now(writer.close());
        now(server.close());
      }
    }

    private Mono<Long> put(KvClient client, List<BlockKey> keys) {
      return client.put(keys, new ProducingSource(client.arena(), SliceShape.Order.LAYER_FIRST,
          (key, range, to) -> Blocks.fill(key, range.offset(SPACE.layout()), to))).count();
    }

    private KvClient connect() {
      return now(KvClient.connect(link.client(),
          KvClientOptions.builder().maxSliceBytes(SLICE_BYTES).windowBlocks(WINDOW)
              .answerTimeout(STALL.multipliedBy(10)).build(),
          SPACE, leaks.watch(new SlabArena("client", SPACE.layout(), 2 * WINDOW, 64)),
          leaks.watch(new ByteBudget("client", 16 * SLICE_BYTES, 64))));
    }

    private <T> T now(Mono<T> work) {
      CompletableFuture<T> result = work.toFuture();
      assertThat(until(result::isDone)).as("done").isTrue();
      return result.join();
    }

    private boolean until(BooleanSupplier done) {
      return time.runUntil(done, SOON);
    }
  }

  private static Mono<Long> get(KvClient client) {
    return Flux.using(BlockScope::new, scope -> client.lease(keys(0, BLOCKS), OnMiss.SKIP, scope)
        .flatMapMany(lease -> lease.slices(scope)).map(slice -> {
          try (slice) {
            slice.spans().forEach(Blocks::assertBytes);
            return (long) slice.bytes();
          }
        }), BlockScope::close).reduce(0L, Long::sum);
  }

  /// The same over a socket that stands still: the kernel's buffers are full, the reader's window is used up. Blocks in
  /// shared memory do not pass through the socket.
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SHARED_MEMORY")
  void readerBehindASocketThatStandsStill_keepsNoWriterFromTheBudget(Link transport) throws Exception {
    BlockLayout layout = BlockLayout.attention(8, 64, 2, 64, ElementType.BF16);
    CacheSpace space = CacheSpace.of("stall", layout);
    int slice = 128 << 10;
    KvServerOptions options =
        KvServerOptions.defaults().withLimits(new Limits(slice, 128, 256)).withSendWindowBytes(4L * slice);
    try (WireNode node =
        new WireNode(transport, space, 512, StackOptions.defaults("dram").withIngressBlocks(32), options,
            4L * slice, Schedulers.newSingle("timers", true))) {
      SlabArena arena = node.arena(32);
      KvClientOptions.Builder asking = KvClientOptions.builder().maxSliceBytes(slice).windowBlocks(16);
      KvClient writer = node.client(asking.build(), arena, node.budget(64));
      requireNonNull(
          writer.put(node.keys(0, 128), node.source(arena, SliceShape.Order.LAYER_FIRST)).count()
              .block(WireNode.PATIENCE));
      try (Relay relay = Relay.to(transport.port(node.server), Relay.Fault.none(), true)) {
        KvClient reader = node.client(transport.client(relay.port()),
            asking.windowBlocks(128).creditSlices(240).build(), node.arena(128),
            node.budget(8192));
        CompletableFuture<Long> get = node.get(reader, node.keys(0, 128), OnMiss.SKIP).toFuture();
        awaitTrue(() -> node.ingress.inUseBytes() >= 2L * slice);

        assertThat(writer.put(node.keys(128, 192), node.source(arena, SliceShape.Order.LAYER_FIRST)).count()
            .block(WireNode.PATIENCE)).isEqualTo(64);

        assertThat(get).isNotDone();
        assertThat(node.ingress.peakBytes()).isLessThanOrEqualTo(4L * slice);
        relay.flow();
        assertThat(get.get(20, TimeUnit.SECONDS)).isEqualTo(128L * layout.blockBytes());
      }
    }
  }

  private static void awaitTrue(BooleanSupplier condition) {
    Eventually.holds("the condition holds", condition::getAsBoolean);
  }
}
