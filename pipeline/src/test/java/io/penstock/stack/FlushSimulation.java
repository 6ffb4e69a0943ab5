package io.penstock.stack;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.FaultyStore;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.Medium;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

/// A stack of the seed's shape that ends while blocks are on their way to its disk, in one thread and virtual time,
/// with a disk that is as told.
final class FlushSimulation {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /// How the stores are once the stack is to end.
  enum Stores {
    /// They do in time what they are asked for.
    SLOW,
    /// They do it, but not all of it in time.
    TOO_SLOW,
    /// The disk does not answer.
    STUCK,
    /// The disk does not take some of it.
    FAILING,
    /// The disk is off in the midst of it, and what it does then is not heard any more.
    OFF,
    /// They do it, and the waiting flush is cancelled.
    LEFT,
    /// They do it, and the stack closes meanwhile.
    CLOSED
  }

  private final Random random;
  private final Stores stores;
  private final VirtualTimeScheduler timers = VirtualTimeScheduler.create();
  private final List<Runnable> deviceTasks = new ArrayList<>();
  private final List<Runnable> diskTasks = new ArrayList<>();
  private final MemoryStore memoryDisk =
      new MemoryStore("ssd", Medium.DISK, StackSteps.SPACE, Long.MAX_VALUE, diskTasks::add);
  private final FaultyStore disk = new FaultyStore(memoryDisk);
  private final TierStack stack;
  private final boolean exclusive;
  private final Set<BlockKey> chosen;
  private boolean ended;
  private @Nullable Integer missed;

  FlushSimulation(long seed, Stores stores) {
    this.random = new Random(seed * 0x9E3779B97F4A7C15L);
    this.stores = stores;
    StackOptions.Mode mode = random.nextInt(3) == 0 ? StackOptions.Mode.WRITE_THROUGH : StackOptions.Mode.EXCLUSIVE;
    this.exclusive = mode == StackOptions.Mode.EXCLUSIVE;
    List<StackLevel> levels = new ArrayList<>();
    int shape = random.nextInt(3);
    int above = 0;
    if (shape > 0) {
      above = 1 + random.nextInt(3);
      levels.add(
          new StackLevel.Stored(new MemoryStore("hbm", Medium.DEVICE, StackSteps.SPACE, above, deviceTasks::add),
              above));
    }
    if (shape < 2) {
      int dram = 1 + random.nextInt(4);
      above += dram;
      levels.add(new StackLevel.Host("dram", exclusive ? dram : above));
    }
    levels.add(new StackLevel.Stored(disk, 100));
    List<BlockKey> keys = Blocks.keys(StackSteps.SPACE, 0, above + 1 + random.nextInt(20));
    this.stack = new TierStack(StackSteps.SPACE, levels,
        StackOptions.defaults("stack").withMode(mode).withIngressBlocks(30).withTransferBlocks(1)
            .withPromotionBlocks(1).withBounceBlocks(1 + random.nextInt(2)).withBatchBlocks(1 + random.nextInt(4)),
        TierListener.noop(), () -> 0);
    for (BlockKey key : keys) {
      StackSteps.committed(stack, List.of(key)).subscribe(receipts -> {}, error -> {});
      for (int i = random.nextInt(3); i > 0; i--) {
        runOne();
      }
    }
    this.chosen = Set.copyOf(exclusive ? keys.subList(0, keys.size() - above) : keys);
  }

  private boolean runOne() {
    boolean answers = !diskTasks.isEmpty() && !isStuck();
    List<Runnable> tasks = answers && (deviceTasks.isEmpty() || random.nextBoolean()) ? diskTasks : deviceTasks;
    if (tasks.isEmpty()) {
      return false;
    }
    tasks.remove(random.nextInt(tasks.size())).run();
    return true;
  }

  private boolean isStuck() {
    return stores == Stores.STUCK && timers.now(TimeUnit.MILLISECONDS) > 0 && !ended;
  }

  void run() {
    timers.advanceTimeBy(Duration.ofMillis(1));
    if (stores == Stores.FAILING) {
      disk.puts(put -> random.nextBoolean() ? Mono.error(new SimulatedStores.Fault()) : put);
    }
    Disposable waiting = stack.flush(PATIENCE, timers).subscribe(blocks -> {
      missed = blocks;
      ended = true;
    });
    int steps = random.nextInt(10);
    long begun = timers.now(TimeUnit.MILLISECONDS);
    while (!ended && !waiting.isDisposed()) {
      boolean ran = runOne();
      if (stores == Stores.STUCK || stores == Stores.TOO_SLOW) {
        timers.advanceTimeBy(Duration.ofSeconds(1 + random.nextInt(8)));
      } else {
        timers.advanceTimeBy(Duration.ofMillis(random.nextInt(100)));
        assertThat(ran || ended).as("nothing is left to be done, and %s waits", stores).isTrue();
      }
      if (steps-- == 0) {
        turn(waiting);
      }
    }
    assertThat(timers.now(TimeUnit.MILLISECONDS) - begun).as("time that it took")
        .isLessThanOrEqualTo(PATIENCE.toMillis() + 8_000);
    end();
  }

  /// What happens in the midst of it.
  private void turn(Disposable waiting) {
    switch (stores) {
      case OFF -> disk.health(StoreHealth.State.OFF);
      case LEFT -> waiting.dispose();
      case CLOSED -> {
        stack.close().subscribe();
        assertThat(ended).as("a waiting flush hears of a close").isTrue();
      }
      default -> {
      }
    }
  }

  private void end() {
    Set<BlockKey> there = onDisk();
    stack.close().subscribe();
    while (runOne()) {
      timers.advanceTimeBy(Duration.ofMillis(1));
    }
    stack.close().block(StackSteps.SOON);
    assertThat(stack.arena().claimedSlots()).as("slots lent after the close").isZero();
    assertThat(chosen).as("what is on the disk").containsAll(onDisk());
    if (stores == Stores.SLOW) {
      assertThat(onDisk()).isEqualTo(chosen);
    }
    if (ended) { // those that are only written through are told so by their commits
      assertThat(missed).as("blocks that did not get there").isEqualTo(exclusive ? chosen.size() - there.size() : 0);
    }
  }

  private Set<BlockKey> onDisk() {
    Set<BlockKey> keys = new HashSet<>();
    memoryDisk.reopened().recovered().forEach(block -> keys.add(block.key()));
    return keys;
  }
}
