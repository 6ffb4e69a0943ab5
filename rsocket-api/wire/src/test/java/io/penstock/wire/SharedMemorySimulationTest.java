package io.penstock.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.KvException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.LayerSlice;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.block.SliceShape;
import io.penstock.flow.ProducingSource;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.system.NativeMemory;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierListener;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.protocol.WireFailure.DrainingException;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.simulate.LinkFault;
import io.penstock.wire.simulate.LinkPlan;
import io.penstock.wire.simulate.SimulatedLink;
import io.penstock.wire.simulate.SimulatedTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Readers and writers that share memory with a node, over links with faults, in one thread under many seeds: each call
/// ends with the right bytes or a typed error, and at the end no side keeps a block for the other.
@Timeout(120)
final class SharedMemorySimulationTest {
  private static final int SLICE_BYTES = 4096;
  private static final int WINDOW = 4;
  private static final int BLOCKS = 14;
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final CacheSpace SPACE =
      CacheSpace.of("shared", BlockLayout.attention(4, 16, 2, 16, ElementType.BF16));

  @BeforeAll
  static void aSystemWithNativeCalls() {
    assumeTrue(NativeMemory.absence().isEmpty());
  }

  @Test
  void streamsOverFaultyLinks_endRight_andNothingIsKept() {
    run(0, 12);
  }

  @Tag("proof")
  @Timeout(1200)
  @Test
  void streamsOverFaultyLinks_endRight_andNothingIsKept_atLength() {
    run(1_000, 5_000);
  }

  private static void run(int from, int to) {
    for (int seed = from; seed < to; seed++) {
      try (LeakLedger leaks = new LeakLedger()) {
        new World(seed, leaks).run();
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  private static final class World {
    private final SplittableRandom random;
    private final SimulatedTime time;
    private final LeakLedger leaks;
    private final HostTier tier;
    private final SimulatedLink link;
    private final List<CompletableFuture<?>> calls = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();
    private final List<KvClient> clients = new ArrayList<>();

    World(int seed, LeakLedger leaks) {
      this.random = new SplittableRandom(seed);
      this.time = new SimulatedTime(seed);
      this.leaks = leaks;
      this.tier = new HostTier(SPACE, 40 + random.nextInt(200),
          StackOptions.defaults("dram").withIngressBlocks(2 * WINDOW), TierListener.noop(),
          ChunkSource.shared("node"));
      this.link = new SimulatedLink(time, "link", UnpooledByteBufAllocator.DEFAULT,
          number -> number == 0 || random.nextBoolean()
              ? LinkPlan.quiet()
              : LinkPlan.quiet().withFaults(LinkFault.random(random, 60)),
          event -> {});
    }

    void run() {
      try (var _ = time.captureDefaults()) {
        ByteBudget budget = leaks.watch(new ByteBudget("node", SLICE_BYTES * (2L + random.nextInt(10)), 64));
        KvServer server = now(KvServer.bind(link.server(), tier,
            KvServerOptions.defaults().withLimits(new Limits(SLICE_BYTES, WINDOW, 256))
                .withSendWindowBytes(SLICE_BYTES * (1L + random.nextInt(4))),
            budget, time.scheduler()));
        KvClient writer = now(connect());
        now(put(writer, 0));
        for (int i = 0; i < 3; i++) {
          calls.add(connect().flatMap(this::uses).doOnError(failures::add).onErrorComplete().toFuture());
        }
        assertThat(time.runUntil(() -> calls.stream().allMatch(CompletableFuture::isDone), LIMIT)).as("all end")
            .isTrue();
        assertThat(failures).allMatch(KvException.class::isInstance);
        now(writer.close());
        clients.forEach(client -> now(client.close()));
        time.advance(Duration.ofSeconds(100));
        assertThat(server.runningStreams()).isZero();
        now(server.close());
      }
      now(tier.close());
      leaks.watch("slots of the tier", tier.arena()::claimedSlots);
    }

    private Mono<Void> uses(KvClient client) {
      clients.add(client);
      List<Mono<?>> work = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        work.add(random.nextInt(3) == 0 ? put(client, 100 * random.nextInt(1, 4)) : get(client));
      }
      return Mono.when(work);
    }

    private Mono<Long> put(KvClient client, int first) {
      List<BlockKey> keys = Blocks.keys(SPACE, first, first + BLOCKS);
      Flux<?> receipts = client.put(keys, new ProducingSource(client.arena(), SliceShape.Order.LAYER_FIRST,
          (key, range, to) -> Blocks.fill(key, range.offset(SPACE.layout()), to)));
      return (random.nextInt(4) == 0 ? receipts.take(random.nextInt(BLOCKS)) : receipts).count();
    }

    private Mono<Long> get(KvClient client) {
      int taken = random.nextInt(4) == 0 ? random.nextInt(8) : Integer.MAX_VALUE;
      return Flux.using(BlockScope::new,
          scope -> client.lease(Blocks.keys(SPACE, 0, BLOCKS), OnMiss.SKIP, scope)
              .flatMapMany(lease -> lease.slices(scope)).take(taken).map(SharedMemorySimulationTest::checked),
          BlockScope::close).reduce(0L, Long::sum);
    }

    private Mono<KvClient> connect() {
      return KvClient.connect(link.client(),
          KvClientOptions.builder().maxSliceBytes(SLICE_BYTES).windowBlocks(WINDOW).build(), SPACE,
          leaks.watch(new SlabArena("client", SPACE.layout(), 6 * WINDOW, 64, ChunkSource.shared("client"))),
          leaks.watch(new ByteBudget("client", 16 * SLICE_BYTES, 64)))
          .timeout(Duration.ofSeconds(120), Mono.error(new DrainingException()), time.scheduler());
    }

    private <T> T now(Mono<T> work) {
      CompletableFuture<T> result = work.toFuture();
      assertThat(time.runUntil(result::isDone, LIMIT)).as("done").isTrue();
      return result.join();
    }
  }

  private static long checked(LayerSlice slice) {
    try (slice) {
      slice.spans().forEach(Blocks::assertBytes);
      return slice.bytes();
    }
  }
}
