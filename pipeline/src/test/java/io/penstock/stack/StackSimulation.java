package io.penstock.stack;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockKey;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.stack.shape.StackOptions.OffloadRule;
import io.penstock.testkit.Blocks;
import io.penstock.tier.Medium;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.TierListener;
import io.penstock.tier.TierStat;
import io.penstock.tier.spi.StoreBusyException;
import io.penstock.tier.spi.StoreUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CancellationException;
import reactor.test.scheduler.VirtualTimeScheduler;

/// One stack of the seed's shape with requests that read, write and leave in its order, in one thread: every request
/// ends, no pool is overrun, every byte is right, nothing stays behind, and the decisions are the textbook's.
final class StackSimulation {
  private static final int FLUSH_STEPS = 10;

  final Random random;
  final List<BlockKey> keys;
  final TierStack stack;
  /// Most blocks of a window.
  final int window;
  /// Whether readers leave before the end now and then.
  final boolean leaves;
  private final VirtualTimeScheduler timers = VirtualTimeScheduler.create();
  private final SimulatedStores stores;
  private final List<SimulatedRequest> requests = new ArrayList<>();
  private final LinkedHashSet<BlockKey> model = new LinkedHashSet<>();
  /// Whether stores fail now and then, and bytes get damaged.
  private final boolean faulty;
  /// Whether the disk is unhealthy now and then: while it is off, nothing that was begun there ends.
  private final boolean weak;
  /// Whether it leaves the textbook: uses counted, a short queue, blocks read ahead, stores that run out of room.
  private final boolean free;
  /// Steps until the stack is closed in the middle of it all; below 0 if it is not.
  private int stepsToClose;
  private final int stepsAtFirst;
  private boolean closed;
  /// Whether its flush ended, in the last steps before it was closed.
  private boolean flushed;
  private long hits;

  StackSimulation(long seed) {
    this.random = new Random(seed * 0x9E3779B97F4A7C15L); // first draws of neighbouring seeds are alike
    this.keys = Blocks.keys(SimulatedStores.SPACE, 0, 4 + random.nextInt(16));
    this.leaves = random.nextInt(3) == 0;
    this.faulty = random.nextInt(3) == 0;
    this.stepsAtFirst = random.nextInt(4) == 0 ? random.nextInt(200) : -1;
    this.stepsToClose = stepsAtFirst;
    this.window = 1 + random.nextInt(3);
    this.weak = random.nextInt(3) == 0;
    StackOptions.Mode mode = random.nextInt(4) == 0 ? StackOptions.Mode.WRITE_THROUGH : StackOptions.Mode.EXCLUSIVE;
    this.stores = new SimulatedStores(random, faulty, weak);
    List<StackLevel> levels = stores.levels(mode);
    if (levels.getLast().medium() != Medium.DISK) {
      mode = StackOptions.Mode.EXCLUSIVE;
    }
    StackOptions options =
        StackOptions.defaults("stack").withMode(mode).withIngressBlocks(window).withTransferBlocks(window)
            .withPromotionBlocks(1).withBounceBlocks(1 + random.nextInt(2)).withBatchBlocks(1 + random.nextInt(3));
    if (weak) { // what a disk that does not answer holds is held beside what others need
      options = options.withIngressBlocks(2 * window + options.batchBlocks()).withTransferBlocks(64);
    }
    this.free = random.nextInt(3) == 0;
    if (free) {
      options = options.withTiering(
          new StackOptions.Tiering(OffloadRule.usedAtLeast(random.nextInt(3)), 1 + random.nextInt(2), random.nextInt(4),
              1 + random.nextInt(3), StackOptions.Tiering.UNBOUNDED, 1, 1));
    }
    this.stack = new TierStack(SimulatedStores.SPACE, levels, options, TierListener.noop(), () -> 0);
  }

  /// Whether the figures are those of the textbook.
  boolean isExact() {
    return !leaves && !faulty && !weak && !free && !closed;
  }

  /// Whether a request may end so.
  boolean mayEnd(Throwable error) {
    return (leaves && error instanceof CancellationException) || (closed && error instanceof TierClosedException)
        || (weak && error instanceof StoreUnavailableException)
        || (faulty && (error instanceof SimulatedStores.Fault || error instanceof StoreBusyException
            || error instanceof BlockCorruptException));
  }

  private void close() {
    closed = true;
    stack.close().subscribe();
    assertThat(stepsAtFirst < FLUSH_STEPS || flushed).as("a waiting flush hears that the stack closed")
        .isTrue();
  }

  void run() {
    int toStart = 5 + random.nextInt(25);
    while (toStart > 0 || !stores.ready().isEmpty() || requests.stream().anyMatch(SimulatedRequest::canGoOn)) {
      int choice = random.nextInt(4);
      if (free && !closed) {
        stores.shorten();
      }
      stores.damage(keys);
      stores.weaken();
      if (stepsToClose == FLUSH_STEPS) {
        stack.flush(Duration.ofHours(1), timers).subscribe(missed -> flushed = true);
      }
      if (stepsToClose-- == 0) {
        close();
        toStart = 0;
      } else if (choice == 0 && toStart > 0) {
        toStart--;
        requests.add(new SimulatedRequest(this));
      } else if (choice == 1) {
        List<Runnable> ready = stores.ready();
        if (!ready.isEmpty()) {
          ready.remove(random.nextInt(ready.size())).run();
        }
      } else {
        List<SimulatedRequest> able = requests.stream().filter(SimulatedRequest::canGoOn).toList();
        if (!able.isEmpty()) {
          able.get(random.nextInt(able.size())).goOn();
        }
      }
    }
    check();
  }

  private void check() {
    for (SimulatedRequest request : requests) {
      assertThat(request.isOver()).as("%s ended, with %s", request, stores).isTrue();
      request.scope.close();
    }
    stores.finish();
    if (closed) {
      checkClosed();
      return;
    }
    TierStat stat = Objects.requireNonNull(stack.stat().block());
    assertThat(stack.movingBlocks()).as("blocks that still wait or move").isZero();
    assertThat(stack.flush(Duration.ofHours(1), timers).block(Duration.ofSeconds(5)))
        .as("blocks that did not get to the disk").isZero();
    assertThat(stat.claimedBytes()).as("bytes lent").isEqualTo(stat.bytes());
    stores.checkCold(stack.arena().claimedSlots());
    if (!faulty) {
      assertThat(stat.corrupt()).isZero();
    }
    assertThat(stack.arena().highWaterSlots()).isLessThanOrEqualTo(stack.arena().capacitySlots());
    for (TierStat.Level level : stat.levels()) {
      if (level.medium() != Medium.DISK) {
        assertThat(level.storedBlocks()).as("%s", level).isLessThanOrEqualTo(level.capacityBlocks());
      }
    }
    if (isExact()) {
      assertThat(stat.hits()).isEqualTo(hits);
      assertThat(stat.levels().stream().mapToLong(TierStat.Level::hits).sum()).isEqualTo(hits);
      assertThat(stat.blocks()).isEqualTo(model.size());
      assertThat(keys.stream().filter(model::contains).toList())
          .isEqualTo(Objects.requireNonNull(stack.contains(keys).block()).bits().stream().mapToObj(keys::get).toList());
    }
    checkClosed();
  }

  private void checkClosed() {
    stack.close().block(Duration.ofSeconds(5));
    assertThat(stack.arena().claimedSlots()).as("slots after the close").isZero();
    stores.checkClosed();
  }

  /// Counts a reference as the textbook does.
  boolean reference(BlockKey key) {
    boolean hit = model.remove(key);
    model.add(key);
    if (model.size() > stack.info().capacityBlocks()) {
      model.removeFirst();
    }
    hits += hit ? 1 : 0;
    return hit;
  }
}
