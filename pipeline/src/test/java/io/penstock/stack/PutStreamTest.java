package io.penstock.stack;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.flow.ProducingSource;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.stack.shape.StackOptions.Tiering;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.Medium;
import io.penstock.tier.PutSource;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierListener;
import io.penstock.tier.TierStat;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/// The stream of a put: windows in flight, what a duplicate moves, decisions a block, a disk that is slow.
final class PutStreamTest extends StackSteps {
  private static final int WINDOW = 2;

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final SlabArena source = new SlabArena("source", SPACE.layout(), 4 * WINDOW, 8);
  private final List<PutSource.Window> windows = new ArrayList<>();

  @AfterEach
  void close() {
    source.close();
  }

  private static List<BlockKey> keys(int from, int to) {
    return IntStream.range(from, to).mapToObj(StackSteps::key).toList();
  }

  private static SliceShape shape(CacheSpace space, int windowBlocks) {
    return new SliceShape(windowBlocks, space.layout().layerBytes(), SliceShape.Order.LAYER_FIRST, 0);
  }

  /// Computes blocks, and keeps the windows that it was asked for.
  private PutSource computed() {
    PutSource computed = new ProducingSource(source, SliceShape.Order.LAYER_FIRST,
        (key, range, memory) -> Blocks.fill(key, range.offset(SPACE.layout()), memory));
    return window -> {
      windows.add(window);
      return computed.window(window);
    };
  }

  @Test
  void demand_isTheOnlySourceOfWindows_andOneIsInFlight() {
    TierStack stack = new TierStack(SPACE, List.of(new StackLevel.Host("dram", 16)),
        StackOptions.defaults("stack").withIngressBlocks(4 * WINDOW), TierListener.noop());
    PutSource watched = computed();
    List<Long> inFlight = new ArrayList<>();
    PutSource counting = window -> watched.window(window)
        .doOnNext(slice -> inFlight.add(stack.arena().claimedSlots() - stat(stack).blocks()));
    StepVerifier.create(stack.put(keys(0, 8), shape(SPACE, WINDOW), counting), 0)
        .expectSubscription()
        .then(() -> assertAhead(stack, 0))
        .thenRequest(1).expectNextCount(1)
        .then(() -> assertAhead(stack, 1))
        .thenRequest(1).expectNextCount(1)
        .then(() -> assertAhead(stack, 2))
        .thenRequest(3).expectNextCount(3)
        .then(() -> assertAhead(stack, 5))
        .thenRequest(3).expectNextCount(3)
        .verifyComplete();
    assertThat(inFlight).isNotEmpty().allMatch(blocks -> blocks <= WINDOW);
    assertThat(present(stack, 0, 1, 2, 3, 4, 5, 6, 7)).isEqualTo("11111111");
    assertClosesClean(stack);
  }

  private static void assertAhead(TierStack stack, int taken) {
    assertThat(stat(stack).blocks()).isLessThanOrEqualTo(taken + WINDOW);
  }

  /// A reader that looks while slices land finds nothing; afterwards it finds all bytes.
  @Test
  void block_isNotThere_untilAllOfItIs() {
    TierStack stack = new TierStack(SPACE, List.of(new StackLevel.Host("dram", 16)), StackOptions.defaults("stack"),
        TierListener.noop());
    List<String> seen = new ArrayList<>();
    PutSource computed = computed();
    PutSource looking = window -> computed.window(window).doOnNext(slice -> {
      seen.add(present(stack, 0, 1));
      assertThat(stack.holds("me").remove(keys(0, 1), true).block(SOON))
          .containsExactly(TierHolds.KeyOutcome.NOT_READY);
      try (BlockScope scope = new BlockScope()) {
        assertThat(stack.get(keys(0, 2), scope).collectList().block(SOON)).isEmpty();
      }
    });
    assertThat(stack.put(keys(0, 2), shape(SPACE, WINDOW), looking).count().block(SOON)).isEqualTo(2);
    assertThat(seen).hasSize(2 * SPACE.layout().layers()).containsOnly("00");
    read(stack, 0);
    read(stack, 1);
    assertClosesClean(stack);
  }

  @Test
  void duplicates_moveNotAByte() {
    TierStack stack = new TierStack(SPACE, List.of(new StackLevel.Host("dram", 16)), StackOptions.defaults("stack"),
        TierListener.noop());
    putAll(stack, keys(0, 6));
    PutSource computed = computed();
    AtomicLong bytes = new AtomicLong();
    PutSource counting = window -> computed.window(window).doOnNext(slice -> bytes.addAndGet(slice.bytes()));
    assertThat(stack.put(keys(0, 6), shape(SPACE, WINDOW), counting).count().block(SOON)).isZero();
    assertThat(windows).isEmpty();
    assertThat(bytes).hasValue(0);
    assertThat(stack.put(keys(3, 8), shape(SPACE, 5), counting).count().block(SOON)).isEqualTo(2);
    assertThat(bytes).as("of those that are new").hasValue(2L * SPACE.layout().blockBytes());
    assertClosesClean(stack);
  }

  // Layer by layer

  /// Every decision looks at the clock while a lease lives, so readings of the clock count decisions.
  @Test
  void decisions_areAsMany_howeverManyLayersABlockHas() {
    assertThat(decisions(61)).isEqualTo(decisions(1)).isEqualTo(decisions(2));
  }

  private long decisions(int layers) {
    CacheSpace space = CacheSpace.of("layers", BlockLayout.attention(layers, 4, 1, 4, ElementType.BF16));
    AtomicLong readings = new AtomicLong();
    TierStack stack = new TierStack(space, List.of(new StackLevel.Host("dram", 16)),
        StackOptions.defaults("stack").withExact(false), TierListener.noop(), () -> {
          readings.incrementAndGet();
          return 7;
        });
    SlabArena arena = new SlabArena("source", space.layout(), 4, 4);
    AtomicLong slices = new AtomicLong();
    try (BlockScope scope = new BlockScope(); TierHolds holds = stack.holds("me")) {
      List<BlockKey> keys = Blocks.keys(space, 0, 4);
      putAll(stack, Blocks.keys(space, 9, 10));
      assertThat(value(holds.lease(Blocks.keys(space, 9, 10), LeaseTerms.defaults())).id()).isNotZero();
      List<Block> blocks = keys.stream().map(key -> scope.adopt(Blocks.block(arena, key))).toList();
      PutSource given = PutSource.of(blocks, SliceShape.Order.LAYER_FIRST);
      long before = readings.get();
      assertThat(stack.put(keys, shape(space, 1),
          window -> given.window(window).doOnNext(slice -> slices.incrementAndGet())).count().block(SOON)).isEqualTo(4);
      long decisions = readings.get() - before;
      assertThat(slices).as("slices of %d layers", layers).hasValue(4L * layers);
      assertThat(decisions).isPositive();
      return decisions;
    } finally {
      assertClosesClean(stack);
      arena.close();
    }
  }

  private static <T> T value(Mono<T> mono) {
    return requireNonNull(mono.block(SOON));
  }

  // A disk that is slow

  /// No put fails, and memory stays within its bounds: the put waits.
  @Test
  void blocksThatTheDiskTakesOneByOne_areWithheld_andNoneFails() {
    int host = 4;
    int ingress = 2 * WINDOW;
    int bounce = 1;
    TierStack stack = new TierStack(SPACE,
        List.of(new StackLevel.Host("dram", host),
            new StackLevel.Stored(new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, tasks::add), 64)),
        StackOptions.defaults("stack").withIngressBlocks(ingress).withBounceBlocks(bounce).withBatchBlocks(1)
            .withTransferBlocks(1).withPromotionBlocks(1).withTiering(Tiering.exact().withQueue(3, Tiering.UNBOUNDED)),
        TierListener.noop());
    CompletableFuture<Long> receipts =
        stack.put(keys(0, 2000), shape(SPACE, WINDOW), computed()).count().toFuture();
    long most = 0;
    while (!receipts.isDone()) {
      most = Math.max(most, stack.arena().claimedSlots());
      assertThat(tasks).as("a copy under way").isNotEmpty();
      tasks.remove().run();
    }
    assertThat(receipts).isCompletedWithValue(2000L);
    assertThat(most).isLessThanOrEqualTo(host + ingress);
    runTasks();
    TierStat.Tiering tiering = stat(stack).tiering();
    assertThat(tiering.withheld()).isGreaterThan(100);
    assertThat(tiering.mostQueuedBlocks()).isLessThanOrEqualTo(3 + ingress);
    assertThat(tiering.queuedBlocks()).isZero();
    assertThat(stat(stack).blocks()).isEqualTo(host + 64);
    assertClosesClean(stack);
  }
}
