package io.penstock.node.tiers;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.device.ascend.AscendListener;
import io.penstock.device.ascend.AscendOptions;
import io.penstock.device.ascend.DriverDouble;
import io.penstock.device.ascend.DriverDouble.Profile;
import io.penstock.device.memory.StagingSpec;
import io.penstock.node.cli.UnavailableException;
import io.penstock.node.setting.Capacity;
import io.penstock.storage.EngineKind;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.Eventually;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierListener;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;
import reactor.test.scheduler.VirtualTimeScheduler;

/// The end of a node whose device does not come back from a call.
@Timeout(120)
final class StuckDeviceTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final DriverDouble driver = DriverDouble.of(Profile.CANN_90);
  private final VirtualTimeScheduler timers = VirtualTimeScheduler.create();
  private final LongSupplier clock = () -> timers.now(TimeUnit.NANOSECONDS);
  private final CountDownLatch closed = new CountDownLatch(1);
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private NodeTiers tiers;

  @BeforeEach
  void prepare() {
    driver.reset(1, 64 << 20);
  }

  private void open(UnaryOperator<TierPlan> changes) {
    CacheSpace space = Blocks.smallSpace();
    TierPlan plan = changes.apply(TierPlan.dram(space, Capacity.ofBlocks(4)).withHbm(Capacity.ofBlocks(4))
        .withReserveBlocks(4).withWindowBlocks(2)
        .withDevice(DevicePlan.ascend(0, AscendOptions.defaults().withLibrary(driver.path()), StagingSpec.OFF)));
    tiers = requireNonNull(
        NodeTiers.open(plan, NodeMemory.of(plan), TierListener.noop(), AscendListener.noop()).block(LIMIT));
  }

  private void put(int number) {
    BlockKey key = Blocks.key(tiers.info().space(), number);
    try (BlockScope scope = new BlockScope()) {
      Reservation reservation = requireNonNull(tiers.reserve(List.of(key), scope).block(LIMIT));
      reservation.drafts().forEach(Blocks::produce);
      reservation.commit(reservation.drafts()).block(LIMIT);
    }
  }

  private void awaitCopy() throws InterruptedException {
    Eventually.holds("the device copies", () -> driver.calls("aclrtMemcpyBatch") != 0);
    assertThat(closed.getCount()).isOne();
  }

  @Test
  void closeEndsAndSaysSo_thoughItsCopyDoesNot() throws InterruptedException {
    open(plan -> plan);
    driver.hold("aclrtMemcpyBatch", true);
    put(1);
    awaitCopy();
    tiers.closeWithin(PATIENCE, timers, clock).doOnError(failure::set).onErrorComplete().subscribe(null, null,
        closed::countDown);
    timers.advanceTimeBy(PATIENCE);
    assertThat(closed.getCount()).as("the last moment").isOne();
    timers.advanceTimeBy(Duration.ofSeconds(5));
    assertThat(closed.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(failure.get()).isInstanceOf(UnavailableException.class)
        .hasMessageEndingWith("must close within 5000 ms (was left as it is)");
    assertThat(driver.calls("aclFinalize")).isZero();

    driver.hold("aclrtMemcpyBatch", false); // whatever the device does then, nothing has been taken from under it
    tiers.close().block(LIMIT);
    assertThat(driver.calls("aclFinalize")).isOne();
  }

  @Test
  void closeHasItsTime_thoughTheClockOnTheWallIsPutForward() throws InterruptedException {
    open(plan -> plan);
    driver.hold("aclrtMemcpyBatch", true);
    put(1);
    awaitCopy();
    tiers.closeWithin(PATIENCE, new PutForward(timers), clock).doOnError(failure::set).onErrorComplete().subscribe(null,
        null, closed::countDown);
    timers.advanceTimeBy(PATIENCE);
    assertThat(closed.getCount()).as("the last moment begins now").isOne();
    driver.hold("aclrtMemcpyBatch", false);
    assertThat(closed.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(failure.get()).isNull();
  }

  @Test
  void closeEndsAtTheSameTime_thoughBlocksWaitToGetFromTheDeviceToTheDisk(@TempDir Path folder)
      throws InterruptedException {
    DiskPlan disk = DiskPlan.in(folder.resolve("ssd")).withEngine(EngineKind.PLAIN);
    open(plan -> plan.withReserveBlocks(32).withSsd(Capacity.ofBlocks(100), disk));
    driver.hold("aclrtMemcpyBatch", true);
    for (int i = 0; i < 12; i++) {
      put(i); // the first of them belong on the disk, and the device has not let go of them
    }
    awaitCopy();
    tiers.closeWithin(PATIENCE, timers, clock).doOnError(failure::set).onErrorComplete().subscribe(null, null,
        closed::countDown);
    timers.advanceTimeBy(PATIENCE.minusMillis(1));
    assertThat(requireNonNull(tiers.stat().block(LIMIT)).blocks()).as("blocks of levels that are not closed yet")
        .isEqualTo(12);
    timers.advanceTimeBy(Duration.ofMillis(1));
    timers.advanceTimeBy(Duration.ofSeconds(5));
    assertThat(closed.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(failure.get()).isInstanceOf(UnavailableException.class)
        .hasMessageEndingWith("must close within 5000 ms (was left as it is)");

    driver.hold("aclrtMemcpyBatch", false);
    tiers.close().block(LIMIT);
  }

  @Test
  void closeOfADeviceThatIsSlow_waitsForIt() throws InterruptedException {
    open(plan -> plan);
    driver.hold("aclrtMemcpyBatch", true);
    put(1);
    awaitCopy();
    tiers.closeWithin(PATIENCE, timers, clock).doOnError(failure::set).onErrorComplete().subscribe(null, null,
        closed::countDown);
    driver.hold("aclrtMemcpyBatch", false);
    assertThat(closed.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(failure.get()).isNull();
    assertThat(driver.calls("aclFinalize")).isOne();
  }

  /// Says that it is an hour later each time it is asked; runs tasks when they are due all the same.
  private record PutForward(Scheduler timers, AtomicLong hours) implements Scheduler {
    private PutForward(Scheduler timers) {
      this(timers, new AtomicLong());
    }

    @Override
    public long now(TimeUnit unit) {
      return timers.now(unit) + unit.convert(Duration.ofHours(hours.incrementAndGet()));
    }

    @Override
    public Disposable schedule(Runnable task) {
      return timers.schedule(task);
    }

    @Override
    public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
      return timers.schedule(task, delay, unit);
    }

    @Override
    public Worker createWorker() {
      return timers.createWorker();
    }
  }
}
