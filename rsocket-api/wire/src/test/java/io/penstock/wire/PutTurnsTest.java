package io.penstock.wire;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.flow.ProducingSource;
import io.penstock.stack.HostTier;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.PutSource;
import io.penstock.tier.TierListener;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.simulate.LinkPlan;
import io.penstock.wire.simulate.SimulatedLink;
import io.penstock.wire.simulate.SimulatedTime;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/// Puts that share less memory than they would like take turns; none holds memory and waits for the credit of one that
/// waits for memory.
@Timeout(60)
final class PutTurnsTest {
  private static final int SLICE_BYTES = 4096;
  private static final int WINDOW = 4;
  private static final int BLOCKS = 10;
  /// Far less than the node's patience with a silent sender.
  private static final Duration SOON = Duration.ofSeconds(10);
  private static final CacheSpace SPACE = CacheSpace.of("turns", BlockLayout.attention(4, 16, 2, 16, ElementType.BF16));

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final SimulatedTime time = new SimulatedTime(1);
  private final SimulatedLink link = SimulatedLink.of(time, "link", UnpooledByteBufAllocator.DEFAULT, LinkPlan.quiet());
  private final HostTier tier = new HostTier(SPACE, 256, TierListener.noop());
  private final ByteBudget ingress = leaks.watch(new ByteBudget("node", 2 * SLICE_BYTES, 64)); // one slice each way
  private final SlabArena memory = leaks.watch(new SlabArena("prefill", SPACE.layout(), WINDOW + WINDOW / 2, 64));
  private final PutSource source = new ProducingSource(memory, SliceShape.Order.LAYER_FIRST,
      (key, range, to) -> Blocks.fill(key, range.offset(SPACE.layout()), to));

  @Test
  void puts_moreThanTheMemoryServes_allEndSoon() {
    try (var _ = time.captureDefaults()) {
      KvClient client = connect();
      List<CompletableFuture<Long>> puts = IntStream.range(0, 8)
          .mapToObj(i -> client.put(keys(i), source).count().toFuture()).toList();

      assertThat(time.runUntil(() -> puts.stream().allMatch(CompletableFuture::isDone), SOON)).as("all ended").isTrue();
      assertThat(puts).allMatch(put -> put.getNow(0L) == BLOCKS);
      assertThat(memory.highWaterSlots()).isLessThanOrEqualTo(memory.capacitySlots());
      run(client.close());
    }
  }

  @Test
  void put_cancelledInLine_leavesItToTheNext() {
    try (var _ = time.captureDefaults()) {
      KvClient client = connect();
      CompletableFuture<Long> first = client.put(keys(0), source).count().toFuture();
      Disposable waiting = client.put(keys(1), source).subscribe();
      CompletableFuture<Long> last = client.put(keys(2), source).count().toFuture();
      waiting.dispose();

      assertThat(time.runUntil(() -> first.isDone() && last.isDone(), SOON)).as("both ended").isTrue();
      assertThat(requireNonNull(tier.contains(keys(1)).block()).count()).isZero();
      run(client.close());
    }
  }

  private static List<BlockKey> keys(long put) {
    return Blocks.keys(SPACE, put * BLOCKS, (put + 1) * BLOCKS);
  }

  private KvClient connect() {
    KvServerOptions options =
        KvServerOptions.defaults().withLimits(new Limits(SLICE_BYTES, WINDOW, 256)).withSendWindowBytes(SLICE_BYTES);
    run(KvServer.bind(link.server(), tier, options, ingress, time.scheduler()));
    return run(KvClient.connect(link.client(),
        KvClientOptions.builder().maxSliceBytes(SLICE_BYTES).windowBlocks(WINDOW).build(), SPACE,
        memory, leaks.watch(new ByteBudget("client", SLICE_BYTES, 64))));
  }

  private <T> T run(Mono<T> work) {
    CompletableFuture<T> result = work.toFuture();
    assertThat(time.runUntil(result::isDone, SOON)).as("done").isTrue();
    return result.getNow(null);
  }
}
