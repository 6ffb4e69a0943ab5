package io.penstock.stack;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.SliceShape;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.stack.shape.StackOptions.Tiering;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.FaultyStore;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedWindow;
import io.penstock.tier.Medium;
import io.penstock.tier.OnMiss;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierListener;
import io.penstock.tier.TierStat;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Sinks;

/// Promotion from the disk: the funnel from a hit to bytes in memory, and what reading ahead saves a reader.
final class PromotionTest extends StackSteps {
  private static final int HOST = 8;
  private static final int DISK = 16;
  private static final int INGRESS = 4;

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final FaultyStore disk =
      new FaultyStore(new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, tasks::add));
  private final BlockScope scope = new BlockScope();

  @AfterEach
  void close() {
    scope.close();
  }

  private TierStack stack(Tiering tiering, int promotionBlocks) {
    TierStack stack =
        new TierStack(SPACE, List.of(new StackLevel.Host("dram", HOST), new StackLevel.Stored(disk, DISK)),
            StackOptions.defaults("stack").withIngressBlocks(INGRESS).withTransferBlocks(8)
                .withPromotionBlocks(promotionBlocks)
                .withTiering(tiering),
            TierListener.noop());
    for (int i = 0; i < HOST + DISK / 2; i++) { // 0 to 7 are on the disk
      put(stack, i);
      runTasks();
    }
    return stack;
  }

  private static List<BlockKey> keys(int from, int to) {
    return IntStream.range(from, to).mapToObj(StackSteps::key).toList();
  }

  /// Hits on the disk, of them held there, and blocks that came to memory since they were put.
  private static List<Long> funnel(TierStack stack) {
    TierStat stat = stat(stack);
    return List.of(stat.levels().getLast().hits(), stat.tiering().held(),
        stat.levels().getFirst().arrived() - stat.stored());
  }

  private static boolean isInMemory(TierStack stack, int number) {
    try (Block copy = stack.hostCopy(key(number))) {
      return copy != null;
    }
  }

  @Test
  void hitsBelowTheThreshold_areHeld_andTheNextBringsTheBlock() {
    TierStack stack = stack(Tiering.exact().withPromoteAtHit(3), 4);
    assertThat(funnel(stack)).containsExactly(0L, 0L, 0L);
    read(stack, 0);
    read(stack, 0);
    runTasks();
    assertThat(funnel(stack)).containsExactly(2L, 2L, 0L);
    assertThat(isInMemory(stack, 0)).isFalse();
    read(stack, 0);
    runTasks();
    assertThat(funnel(stack)).containsExactly(3L, 2L, 1L);
    assertThat(isInMemory(stack, 0)).isTrue();
    read(stack, 0);
    assertThat(funnel(stack)).as("a hit in memory").containsExactly(3L, 2L, 1L);
    assertClosesClean(stack);
  }

  @Test
  void blockThatManyReadAtOnce_comesOnce() {
    TierStack stack = stack(Tiering.exact(), 4);
    List<CompletableFuture<List<Block>>> readers =
        IntStream.range(0, 5).mapToObj(i -> stack.get(keys(0, 1), scope).collectList().toFuture()).toList();
    runTasks();
    readers.forEach(reader -> assertThat(reader.getNow(List.of())).singleElement().satisfies(Blocks::assertBytes));
    assertThat(funnel(stack).getLast()).isEqualTo(1);
    scope.close();
    assertClosesClean(stack);
  }

  /// Blocks wait in promotion slots until those that make room for them are written; without a slot they are read again
  /// from the disk.
  @Test
  void promotionsUnderWay_areBounded_andTheOthersAreReadAllTheSame() {
    TierStack stack = stack(Tiering.exact(), 1);
    Sinks.Empty<Void> puts = Sinks.empty();
    disk.puts(put -> puts.asMono().then(put)); // no block leaves memory until then
    for (int round = 0; round < 2; round++) {
      CompletableFuture<List<Block>> reading = stack.get(keys(0, 8), scope).collectList().toFuture();
      runTasks();
      assertThat(reading.getNow(List.of())).hasSize(8).allSatisfy(Blocks::assertBytes);
      reading.getNow(List.of()).forEach(Block::close);
      assertThat(IntStream.range(0, 8).filter(number -> isInMemory(stack, number)).count())
          .as("in free slots of the level, and in the one for promotions").isEqualTo(INGRESS + 1);
    }
    scope.close();
    puts.tryEmitEmpty();
    runTasks();
    assertClosesClean(stack);
  }

  @Test
  void blockThatTheDiskDoesNotGive_isNotPromoted_andTheNextHitTriesAgain() {
    TierStack stack = stack(Tiering.exact(), 4);
    disk.health(StoreHealth.State.OFF);
    assertThat(present(stack, 0)).isEqualTo("0");
    disk.health(StoreHealth.State.ACTIVE);
    read(stack, 0);
    runTasks();
    assertThat(isInMemory(stack, 0)).isTrue();
    assertClosesClean(stack);
  }

  // Reading ahead

  /// Asks for one window at a time and counts those that were not ready.
  private final class Steps extends BaseSubscriber<LeasedWindow> {
    private int taken;
    private int waits;
    private final List<Throwable> failures = new ArrayList<>();

    @Override
    protected void hookOnSubscribe(Subscription subscription) {
      // it asks later
    }

    @Override
    protected void hookOnNext(LeasedWindow window) {
      window.slices(0).subscribe(slice -> {
        slice.spans().forEach(Blocks::assertBytes);
        slice.close();
      }, failures::add, () -> taken++);
    }

    /// The disk works while the reader uses what it has, and not while it asks.
    int readAll(int windows) {
      for (int i = 0; i < windows; i++) {
        request(1);
        if (taken == i) {
          waits++;
        }
        runTasks();
        assertThat(failures).isEmpty();
        assertThat(taken).isEqualTo(i + 1);
      }
      return waits;
    }
  }

  @ParameterizedTest
  @CsvSource({"0, 6", "1, 1", "2, 1"})
  void reader_waitsForTheFirstWindowAlone_ifTheNextAreReadAhead(int prefetchBlocks, int waits) {
    TierStack stack = stack(Tiering.exact().withPrefetchBlocks(prefetchBlocks), 4);
    try (BlockScope own = new BlockScope()) {
      Lease lease = requireNonNull(stack.lease(keys(0, 6), OnMiss.SKIP, own).block(SOON));
      Steps steps = new Steps();
      lease.slicedWindows(SliceShape.defaults().withWindowBlocks(1), own).subscribe(steps);
      assertThat(steps.readAll(6)).isEqualTo(waits);
      assertThat(stat(stack).tiering().useful()).isEqualTo(prefetchBlocks == 0 ? 0 : 5);
      assertThat(stat(stack).tiering().wasted()).isZero();
    }
    runTasks();
    assertClosesClean(stack);
  }
}
