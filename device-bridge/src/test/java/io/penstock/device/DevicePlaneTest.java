package io.penstock.device;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.SlabArena;
import io.penstock.device.sim.CopyFaults;
import io.penstock.device.sim.SimulatedDevice;
import io.penstock.device.sim.SimulatedDeviceOptions;
import io.penstock.stage.Batch;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.Eventually;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.StageFixtures;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;
import reactor.test.scheduler.VirtualTimeScheduler;

/// Blocks of one stream on several devices: each goes to its own, and a slow device delays no other.
@Timeout(60)
final class DevicePlaneTest {
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final int BLOCKS = 48;
  private static final int SLOW = 2;
  private static final Duration HOUR = Duration.ofHours(1);

  @RegisterExtension
  private final LeakLedger leaks = new LeakLedger();

  private final SlabArena arena = leaks.watch(new SlabArena("plane", StageFixtures.SPACE.layout(), 256, 64));
  private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
  private final Scheduler timer = Schedulers.newSingle("plane-timer");
  private final List<Device> devices = new ArrayList<>();
  private final List<DevicePlane> planes = new ArrayList<>();

  @AfterEach
  void closeAll() {
    planes.forEach(plane -> plane.close().block(LIMIT));
    devices.forEach(device -> {
      if (device.name().startsWith("virtual")) {
        device.close().subscribe();
        clock.advanceTimeBy(HOUR);
      }
      device.close().block(LIMIT);
    });
    timer.dispose();
  }

  private DevicePlane real(int count) {
    IntStream.range(0, count)
        .forEach(i -> devices.add(SimulatedDevice.open(SimulatedDeviceOptions.defaults(1 << 20).withOrdinal(i))));
    return plane(3, 8, timer);
  }

  /// One of 4 devices on a clock that the test moves, of which one takes an hour for a batch.
  private DevicePlane withASlowOne(int lagBlocks) {
    for (int i = 0; i < 4; i++) {
      Duration latency = i == SLOW ? HOUR : Duration.ofNanos(1);
      devices.add(new SimulatedDevice(
          new SimulatedDeviceOptions(i, "virtual" + i, 1 << 20, latency, SimulatedDeviceOptions.UNLIMITED, 64), clock,
          CopyFaults.none()));
    }
    return plane(1, lagBlocks, clock);
  }

  private DevicePlane plane(int batch, int lagBlocks, Scheduler waiting) {
    DeviceBridgeOptions options =
        new DeviceBridgeOptions(BLOCKS, new Batch.Options(batch, 1 << 20, Duration.ofMillis(1)), 4);
    List<DevicePlane> opened = new ArrayList<>();
    DevicePlane.open(devices, StageFixtures.SPACE.layout(), options, lagBlocks, waiting).subscribe(opened::add);
    clock.advanceTime();
    Eventually.holds("the plane is open", () -> !opened.isEmpty());
    planes.addAll(opened);
    return opened.getFirst();
  }

  private static int rank(BlockKey key, int devices) {
    return StageFixtures.keys(BLOCKS).indexOf(key) % devices;
  }

  private Flux<Block> blocks(BlockScope scope) {
    return StageFixtures.blocks(BLOCKS, arena, scope);
  }

  @Test
  void blocks_ofSixteenDevices_goToTheirsAndComeBack() {
    DevicePlane plane = real(16);
    StepVerifier.create(Flux.using(BlockScope::new, scope -> blocks(scope)
        .transform(plane.upload(block -> rank(block.key(), 16), scope))
        .doOnNext(there -> assertThat(plane.bridge(rank(there.key(), 16)).has(there)).isTrue())
        .transform(plane.download(arena, scope))
        .doOnNext(Blocks::assertBytes).map(Block::key)
        .collectSortedList(Comparator.comparing(StageFixtures.keys(BLOCKS)::indexOf)).flux(),
        BlockScope::close, false)).expectNext(StageFixtures.keys(BLOCKS)).expectComplete().verify(LIMIT);
    assertThat(devices).allSatisfy(device -> assertThat(device.copies().elements()).isEqualTo(6));
  }

  @Test
  void slowDevice_whoseBlocksFitTheLag_delaysNoOtherDevice() {
    DevicePlane plane = withASlowOne(BLOCKS);
    List<BlockKey> came = new ArrayList<>();
    try (BlockScope scope = new BlockScope()) {
      blocks(scope).transform(plane.upload(block -> rank(block.key(), 4), scope)).map(DeviceBlock::key)
          .subscribe(came::add);
      clock.advanceTimeBy(Duration.ofMinutes(1));
      assertThat(came).hasSize(36).noneMatch(key -> rank(key, 4) == SLOW);
      clock.advanceTimeBy(HOUR.multipliedBy(12));
      assertThat(came).hasSize(BLOCKS);
    }
  }

  @Test
  void slowDevice_withMoreThanTheLag_withholdsDemandUntilItTakesMore() {
    DevicePlane plane = withASlowOne(4);
    AtomicInteger pulled = new AtomicInteger();
    List<BlockKey> came = new ArrayList<>();
    try (BlockScope scope = new BlockScope()) {
      blocks(scope).doOnNext(block -> pulled.incrementAndGet())
          .transform(plane.upload(block -> rank(block.key(), 4), scope))
          .map(DeviceBlock::key).subscribe(came::add);
      clock.advanceTimeBy(Duration.ofMinutes(1));
      assertThat(pulled.get()).isLessThan(BLOCKS).isLessThanOrEqualTo(came.size() + 4 + 2);
      clock.advanceTimeBy(HOUR.multipliedBy(12));
      assertThat(came).hasSize(BLOCKS);
    }
  }

  @Test
  void cancelled_atAnyMoment_leaksNothing_40Times() {
    cancel(40);
  }

  @Test
  @Tag("proof")
  @Timeout(3600)
  void cancelled_atAnyMoment_leaksNothing_10000Times() {
    cancel(10_000);
  }

  private void cancel(int times) {
    DevicePlane plane = real(4);
    for (int i = 0; i < times; i++) {
      Flux.using(BlockScope::new, scope -> blocks(scope).transform(plane.upload(block -> rank(block.key(), 4), scope))
          .transform(plane.download(arena, scope)), BlockScope::close, false).take(1 + i % 20).blockLast(LIMIT);
    }
    leaks.watch("slots", () -> IntStream.range(0, 4).mapToLong(rank -> plane.bridge(rank).claimedSlots()).sum());
    leaks.awaitEmpty(LIMIT);
  }

  @Test
  void rank_thatIsNotOfThisHost_isRefused() {
    DevicePlane plane = real(2);
    StepVerifier
        .create(Flux.using(BlockScope::new, scope -> blocks(scope).transform(plane.upload(block -> 7, scope)),
            BlockScope::close, false))
        .expectErrorMessage("rank must be in [0, 2), the devices of this host (was 7)").verify(LIMIT);
    assertThatThrownBy(() -> plane.bridge(2)).hasMessage("rank must be in [0, 2), the devices of this host (was 2)");
    leaks.awaitEmpty(LIMIT);
  }

  @Test
  void open_whereOneDeviceIsTooSmall_givesBackWhatTheOthersLent() {
    devices.add(SimulatedDevice.open(SimulatedDeviceOptions.defaults(1 << 20)));
    devices.add(SimulatedDevice.open(SimulatedDeviceOptions.defaults(1).withOrdinal(1)));
    StepVerifier
        .create(DevicePlane.open(devices, StageFixtures.SPACE.layout(), DeviceBridgeOptions.defaults(8), 8, timer))
        .expectError(DeviceMemoryExhaustedException.class).verify(LIMIT);
    requireNonNull(devices.getFirst()).close().block(LIMIT);
    assertThat(devices.getFirst().allocatedBytes()).isZero();
  }
}
