package io.penstock.node.tiers;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.device.DeviceStore;
import io.penstock.device.ascend.AscendListener;
import io.penstock.node.setting.Capacity;
import io.penstock.stack.shape.StackOptions.Sampling;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.Eventually;
import io.penstock.testkit.FaultyStore;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.Medium;
import io.penstock.tier.Reservation;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierListener;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.scheduler.VirtualTimeScheduler;

/// The end of a node with a healthy device and a slow disk.
@Timeout(60)
final class SlowDiskTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final int BLOCKS = 12;
  private static final int ON_DEVICE = 4;

  private final VirtualTimeScheduler timers = VirtualTimeScheduler.create();
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();
  private final CountDownLatch closed = new CountDownLatch(1);
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private final Sinks.Empty<Void> diskClosed = Sinks.empty();
  private final FaultyStore disk =
      new FaultyStore(new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, Runnable::run))
          .closes(end -> diskClosed.asMono().then(end));
  private HbmDevice device;
  private NodeTiers tiers;

  @BeforeEach
  void open() {
    log.start();
    ((Logger) LoggerFactory.getLogger(NodeTiers.class)).addAppender(log);
    TierPlan plan = TierPlan.dram(SPACE, Capacity.ofBlocks(4)).withHbm(Capacity.ofBlocks(ON_DEVICE))
        .withReserveBlocks(32).withWindowBlocks(2)
        .withSsd(Capacity.ofBlocks(100), DiskPlan.in(Path.of("of-no-use")));
    NodeMemory memory = NodeMemory.of(plan);
    device = requireNonNull(HbmDevice.open(plan.device(), memory.listener(), AscendListener.noop()).block(LIMIT));
    DeviceStore hbm = requireNonNull(device.store(SPACE, ON_DEVICE).block(LIMIT));
    tiers = requireNonNull(
        NodeTiers.stack(plan, memory, device, hbm, disk, TierListener.noop(), Sampling.none(), null).block(LIMIT));
  }

  @AfterEach
  void stop() {
    ((Logger) LoggerFactory.getLogger(NodeTiers.class)).detachAppender(log);
  }

  private List<String> said() {
    return log.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  @Test
  void levelThatWasOff_isRemembered_whenItIsHealthyAgain() {
    disk.health(StoreHealth.State.OFF);
    disk.health(StoreHealth.State.ACTIVE);

    assertThat(tiers.troubles()).containsExactly(Map.entry("ssd", "off: told to be"));
    assertThat(said()).contains("level ssd is off: told to be", "level ssd is active");
    diskClosed.tryEmitEmpty();
    tiers.close().block(LIMIT);
    device.close().block(LIMIT);
  }

  private void put() {
    try (BlockScope scope = new BlockScope()) {
      Reservation reservation = requireNonNull(tiers.reserve(Blocks.keys(SPACE, 0, BLOCKS), scope).block(LIMIT));
      reservation.drafts().forEach(Blocks::produce);
      reservation.commit(reservation.drafts()).block(LIMIT);
    }
  }

  /// The newest rest on the device, and all its copies have ended.
  private void awaitDevice() {
    Eventually.holds("the blocks are on the device",
        () -> requireNonNull(tiers.stat().block(LIMIT)).levels().getFirst().storedBlocks() >= ON_DEVICE);
    try (BlockScope scope = new BlockScope()) {
      device.device().allocate(1, scope).block(LIMIT); // one after the other
    }
  }

  private void close() {
    tiers.closeWithin(PATIENCE, timers, () -> timers.now(TimeUnit.NANOSECONDS)).doOnError(failure::set)
        .onErrorComplete()
        .subscribe(null, null, closed::countDown);
  }

  @Test
  void diskThatDoesNotTakeWhatIsOnItsWay_isNamed_andTheDeviceIsNot() throws InterruptedException {
    disk.puts(put -> Mono.never());
    put();
    awaitDevice();
    close();
    timers.advanceTimeBy(PATIENCE);
    diskClosed.tryEmitEmpty();
    assertThat(closed.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(failure.get()).isNull();
    assertThat(said()).singleElement().asString()
        .contains("that were on their way to the disk had not got there in time");
  }

  @Test
  void diskThatIsLongInClosing_isWaitedFor_andNothingIsSaidOfTheDevice() throws InterruptedException {
    close();
    timers.advanceTimeBy(PATIENCE.plusMinutes(1));
    assertThat(closed.getCount()).isOne();
    diskClosed.tryEmitEmpty();
    assertThat(closed.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(failure.get()).isNull();
    assertThat(said()).isEmpty();
  }
}
