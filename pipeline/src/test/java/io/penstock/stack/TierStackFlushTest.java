package io.penstock.stack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.FaultyStore;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.Medium;
import io.penstock.tier.Receipt;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.test.scheduler.VirtualTimeScheduler;

/// Stacks that are to end while blocks are on their way to the disk: those that the ledger has there get there, in
/// bounded time.
@Timeout(600)
final class TierStackFlushTest extends StackSteps {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final VirtualTimeScheduler timers = VirtualTimeScheduler.create();
  private final MemoryStore memory = new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, tasks::add);
  private final FaultyStore disk = new FaultyStore(memory);
  private final List<Integer> missed = new ArrayList<>();

  @Test
  void blocksThatWaitForTheDisk_getThere_andThoseInMemoryStay() {
    TierStack stack = stack(StackOptions.Mode.EXCLUSIVE, 2);
    put(stack, 0, 1, 2, 3, 4);
    stack.flush(PATIENCE, timers).subscribe(missed::add);
    assertThat(missed).as("a copy is under way").isEmpty();
    runTasks();
    assertThat(missed).containsExactly(0);
    assertClosesClean(stack);
    assertThat(memory.storedBlocks()).as("those that the ledger has there").isEqualTo(3);
  }

  @Test
  void commitsThatAreWrittenThrough_areWaitedFor() {
    TierStack stack = stack(StackOptions.Mode.WRITE_THROUGH, 2);
    List<Receipt> receipts = new ArrayList<>();
    committed(stack, List.of(key(0))).subscribe(receipts::addAll);
    committed(stack, List.of(key(1))).subscribe(receipts::addAll);
    stack.flush(PATIENCE, timers).subscribe(missed::add);
    assertThat(missed).isEmpty();
    runTasks();
    assertThat(missed).containsExactly(0);
    assertThat(receipts).extracting(Receipt::durability).containsOnly(Durability.WRITTEN).hasSize(2);
    assertClosesClean(stack);
  }

  @Test
  void blocksWrittenToMemoryAlone_whileTheDiskWasUnhealthy_areNotWaitedForUntilItIsHealthy() {
    TierStack stack = stack(StackOptions.Mode.WRITE_THROUGH, 4);
    disk.health(StoreHealth.State.DEGRADED);
    put(stack, 0, 1);
    stack.flush(PATIENCE, timers).subscribe(missed::add);
    assertThat(missed).as("nothing is on its way").containsExactly(0);
    disk.health(StoreHealth.State.ACTIVE);
    stack.flush(PATIENCE, timers).subscribe(missed::add);
    assertThat(missed).hasSize(1);
    runTasks();
    assertThat(missed).containsExactly(0, 0);
    assertThat(memory.storedBlocks()).isEqualTo(2);
    assertClosesClean(stack);
  }

  @Test
  void diskThatDoesNotAnswer_isWaitedForAsLongAsIsSaid() {
    TierStack stack = stack(StackOptions.Mode.EXCLUSIVE, 2);
    put(stack, 0, 1, 2, 3, 4);
    stack.flush(PATIENCE, timers).subscribe(missed::add);
    timers.advanceTimeBy(PATIENCE.minusMillis(1));
    assertThat(missed).isEmpty();
    timers.advanceTimeBy(Duration.ofMillis(1));
    assertThat(missed).containsExactly(3);
    assertClosesClean(stack);
  }

  @Test
  void diskThatGoesOff_endsTheWait_andNoneOfThemIsThere() {
    TierStack stack = stack(StackOptions.Mode.EXCLUSIVE, 2);
    put(stack, 0, 1, 2, 3, 4);
    stack.flush(PATIENCE, timers).subscribe(missed::add);
    disk.health(StoreHealth.State.OFF);
    assertThat(missed).containsExactly(3);
    assertClosesClean(stack);
  }

  @Test
  void close_endsTheWait() {
    TierStack stack = stack(StackOptions.Mode.EXCLUSIVE, 2);
    put(stack, 0, 1, 2, 3, 4);
    stack.flush(PATIENCE, timers).subscribe(missed::add);
    stack.close().subscribe();
    assertThat(missed).containsExactly(3);
    stack.flush(PATIENCE, timers).subscribe(missed::add);
    assertThat(missed).as("a stack that is closed has nothing under way").containsExactly(3, 0);
    assertClosesClean(stack);
  }

  @Test
  void nothingToMove_endsAtOnce_andPatienceIsSome() {
    TierStack stack = stack(StackOptions.Mode.EXCLUSIVE, 2);
    put(stack, 0);
    stack.flush(PATIENCE, timers).subscribe(missed::add);
    assertThat(missed).containsExactly(0);
    assertThatThrownBy(() -> stack.flush(Duration.ZERO, timers)).hasMessage("patience must be >= 1 ms (was PT0S)");
    assertClosesClean(stack);
  }

  @Test
  void blocksOfMemory_allGetToTheDisk_whereTheyAreSaved() {
    int blocks = 1_000; // of many steps
    TierStack stack = inexact(2 * blocks, 3 * blocks);
    for (int i = 0; i < blocks; i++) {
      put(stack, i);
    }
    assertThat(memory.storedBlocks()).isZero();
    List<String> ends = new ArrayList<>();
    stack.save(PATIENCE, timers).doOnTerminate(() -> ends.add("saved")).subscribe();
    assertThat(ends).as("copies are under way").isEmpty();
    runTasks();
    assertThat(ends).containsExactly("saved");
    assertThat(memory.storedBlocks()).isEqualTo(blocks);
    assertClosesClean(stack);
  }

  @Test
  void save_takesNoLongerThanIsSaid_whereTheDiskDoesNotAnswer_orIsOff() {
    TierStack stack = inexact(100, 100);
    put(stack, 0, 1, 2);
    List<String> ends = new ArrayList<>();
    stack.save(PATIENCE, timers).doOnTerminate(() -> ends.add("saved")).subscribe();
    timers.advanceTimeBy(PATIENCE.minusMillis(1));
    assertThat(ends).isEmpty();
    timers.advanceTimeBy(Duration.ofMillis(1));
    assertThat(ends).hasSize(1);
    disk.health(StoreHealth.State.OFF);
    stack.save(PATIENCE, timers).doOnTerminate(() -> ends.add("off")).subscribe();
    assertThat(ends).containsExactly("saved", "off");
    assertClosesClean(stack);
  }

  @Test
  void save_movesNothing_inAStackThatIsExact() {
    TierStack stack = stack(StackOptions.Mode.EXCLUSIVE, 5);
    put(stack, 0, 1, 2);
    List<String> ends = new ArrayList<>();
    stack.save(PATIENCE, timers).doOnTerminate(() -> ends.add("saved")).subscribe();
    assertThat(ends).hasSize(1);
    runTasks();
    assertThat(memory.storedBlocks()).isZero();
    assertClosesClean(stack);
  }

  @ParameterizedTest
  @EnumSource
  void blocksOnTheirWay_getThereOrAreCounted_over100Seeds(FlushSimulation.Stores stores) {
    run(stores, 0, 100);
  }

  @Tag("proof")
  @ParameterizedTest
  @EnumSource
  void blocksOnTheirWay_getThereOrAreCounted_over20000Seeds(FlushSimulation.Stores stores) {
    run(stores, 100, 20_000);
  }

  private static void run(FlushSimulation.Stores stores, int from, int to) {
    for (int seed = from; seed < to; seed++) {
      try {
        new FlushSimulation(seed, stores).run();
      } catch (Throwable e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  private static void put(TierStack stack, int... numbers) {
    for (int number : numbers) {
      put(stack, number);
    }
  }

  private TierStack inexact(int dram, int ssd) {
    return new TierStack(SPACE, List.of(new StackLevel.Host("dram", dram), new StackLevel.Stored(disk, ssd)),
        StackOptions.defaults("stack").withMode(StackOptions.Mode.EXCLUSIVE).withExact(false).withIngressBlocks(8),
        TierListener.noop());
  }

  private TierStack stack(StackOptions.Mode mode, int dram) {
    return new TierStack(SPACE, List.of(new StackLevel.Host("dram", dram), new StackLevel.Stored(disk, 100)),
        StackOptions.defaults("stack").withMode(mode)
            .withIngressBlocks(8).withTransferBlocks(1).withPromotionBlocks(1).withBounceBlocks(1).withBatchBlocks(1),
        TierListener.noop());
  }
}
