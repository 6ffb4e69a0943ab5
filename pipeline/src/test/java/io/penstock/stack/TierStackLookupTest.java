package io.penstock.stack;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.FaultyStore;
import io.penstock.testkit.MemoryStore;
import io.penstock.testkit.Race;
import io.penstock.tier.BlockTier.Run;
import io.penstock.tier.Medium;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierListener;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Lookups of a stack that serves, which take no lock.
@Timeout(60)
final class TierStackLookupTest extends StackSteps {
  private static final int BLOCKS = 24;
  private static final List<BlockKey> KEYS = Blocks.keys(SPACE, 0, BLOCKS);

  private static StackOptions serving() {
    return StackOptions.defaults("stack").withIngressBlocks(4).withTransferBlocks(4).withPromotionBlocks(4)
        .withBounceBlocks(4).withBatchBlocks(4).withExact(false);
  }

  /// Blocks are promoted and demoted all the time, and lookups find each of them all the time.
  @Test
  void blocksThatMoveBetweenLevels_areFoundAllTheTime() {
    try (ExecutorService thread = Executors.newSingleThreadExecutor(); Race race = new Race(3)) {
      TierStack stack = new TierStack(SPACE, List.of(new StackLevel.Host("dram", 8),
          new StackLevel.Stored(new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, thread), 64)), serving(),
          TierListener.noop());
      for (int number = 0; number < BLOCKS; number++) {
        put(stack, number);
      }
      AtomicBoolean over = new AtomicBoolean();
      race.run(() -> {
        try {
          readAtRandom(stack);
        } finally {
          over.set(true);
        }
      }, () -> lookUp(stack, over), () -> lookUp(stack, over));
      assertThat(stat(stack).levels().getFirst().arrived()).as("blocks promoted meanwhile").isGreaterThan(BLOCKS);
      stack.close().block(SOON);
    }
  }

  private void readAtRandom(TierStack stack) {
    Random random = new Random(1);
    for (int i = 0; i < 600; i++) {
      read(stack, random.nextInt(BLOCKS));
    }
  }

  private static void lookUp(TierStack stack, AtomicBoolean over) {
    while (!over.get()) {
      assertThat(stack.match(KEYS).block(SOON)).isEqualTo(BLOCKS);
      assertThat(stack.contains(KEYS).block(SOON).count()).isEqualTo(BLOCKS);
      assertThat(stack.locate(KEYS).block(SOON).stream().mapToInt(Run::blocks).sum()).isEqualTo(BLOCKS);
    }
  }

  /// Another thread holds the lock, in a decision that asks a store.
  @Test
  void lookup_doesNotWaitForADecision() throws InterruptedException {
    FaultyStore disk = new FaultyStore(new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, Runnable::run));
    TierStack stack =
        new TierStack(SPACE, List.of(new StackLevel.Host("dram", 1), new StackLevel.Stored(disk, 4)), serving(),
            TierListener.noop());
    put(stack, 0);
    put(stack, 1);
    CountDownLatch within = new CountDownLatch(1);
    CountDownLatch answered = new CountDownLatch(1);
    AtomicReference<Throwable> failure = new AtomicReference<>();
    disk.numbers(key -> {
      within.countDown();
      try {
        answered.await();
      } catch (InterruptedException e) {
        failure.set(e);
      }
    });
    Thread deciding = Thread.ofPlatform().start(() -> {
      try (BlockScope scope = new BlockScope()) {
        stack.lease(List.of(key(0)), OnMiss.SKIP, scope).block(SOON);
      } catch (RuntimeException e) {
        failure.set(e);
      }
    });
    within.await();
    try {
      assertThat(stack.match(List.of(key(0), key(1), key(2))).block(SOON)).isEqualTo(2);
      assertThat(present(stack, 0, 1, 2)).isEqualTo("110");
    } finally {
      answered.countDown();
      deciding.join();
    }
    assertThat(failure.get()).isNull();
    disk.mend();
    assertClosesClean(stack);
  }

  @Test
  void locate_saysTheFastestLevelOfEachBlock() {
    TierStack stack = new TierStack(SPACE, List.of(new StackLevel.Host("dram", 2),
        new StackLevel.Stored(new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, Runnable::run), 4)), serving(),
        TierListener.noop());
    List<Integer> numbers = new ArrayList<>(List.of(0, 1, 2, 3));
    numbers.forEach(number -> put(stack, number));
    assertThat(stack.locate(KEYS).block(SOON)).containsExactly(new Run(1, "ssd", 2), new Run(0, "dram", 2));
    assertThat(stack.locate(KEYS.subList(2, 8)).block(SOON)).containsExactly(new Run(0, "dram", 2));
    assertThat(stack.locate(KEYS.subList(8, 9)).block(SOON)).isEmpty();
    stack.remove(List.of(key(1))).block(SOON);
    assertThat(stack.locate(KEYS).block(SOON)).containsExactly(new Run(1, "ssd", 1));
    assertClosesClean(stack);
  }
}
