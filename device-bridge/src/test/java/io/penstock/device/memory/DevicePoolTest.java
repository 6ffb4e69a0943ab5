package io.penstock.device.memory;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockScope;
import io.penstock.device.CopyBatch;
import io.penstock.device.CopyDirection;
import io.penstock.device.DeviceClosedException;
import io.penstock.device.DeviceMemory;
import io.penstock.device.DeviceMemoryExhaustedException;
import io.penstock.device.sim.CopyFaults;
import io.penstock.device.sim.SimulatedDevice;
import io.penstock.device.sim.SimulatedDeviceOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.Disposable;
import reactor.test.scheduler.VirtualTimeScheduler;

@Timeout(60)
final class DevicePoolTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final long MIB = 1 << 20;
  private static final long SEED = 20_261_121;

  private final SimulatedDevice device = SimulatedDevice.open(SimulatedDeviceOptions.defaults(16 * MIB));
  private final DevicePool pool = new DevicePool(device, 16 * MIB);
  private final BlockScope scope = new BlockScope();

  @AfterEach
  void everythingIsTheDevicesAgain() {
    scope.close();
    pool.close().block(LIMIT);
    requireNonNull(device.allocate(1, new BlockScope()).block(LIMIT)).close(); // behind all frees
    requireNonNull(device.allocate(1, new BlockScope()).block(LIMIT)).close();
    assertThat(device.allocatedBytes()).isLessThanOrEqualTo(1);
    device.close().block(LIMIT);
  }

  private DeviceMemory allocate(long bytes) {
    return requireNonNull(pool.allocate(bytes, scope).block(LIMIT));
  }

  @ParameterizedTest
  @CsvSource({"1, 512", "512, 512", "513, 1024", "4096, 4096", "4097, 4608", "8193, 9216", "9217, 10240",
    "1048577, 1179648",
    "4611686018427387904, 4611686018427387904"})
  void sizes_areRoundedUpByAtMostAnEighth(long bytes, long rounded) {
    assertThat(SizeClasses.of(bytes)).isEqualTo(rounded);
    assertThat(SizeClasses.of(rounded)).isEqualTo(rounded);
    assertThat(rounded - bytes).isLessThanOrEqualTo(Math.max(511, bytes / 8));
  }

  @Test
  void memoryThatIsClosed_isUsedAgain() {
    DeviceMemory first = allocate(MIB);
    first.close();
    first.close();
    DeviceMemory second = allocate(MIB - 1000);
    assertThat(second.address()).isEqualTo(first.address());
    assertThat(second.bytes()).isEqualTo(MIB - 1000);
    assertThat(allocate(MIB).address()).isNotEqualTo(first.address());
    assertThat(pool.stat()).isEqualTo(new DevicePoolStat(2, 2 * MIB, 2 * MIB, 0, 1, 2, 0));
    assertThat(device.allocatedBytes()).isEqualTo(2 * MIB);
  }

  @Test
  void deviceThatIsFull_getsBackWhatIsKept_beforeItIsAskedAgain() {
    List<DeviceMemory> all = IntStream.range(0, 16).mapToObj(i -> allocate(MIB)).toList();
    all.forEach(DeviceMemory::close);
    assertThat(pool.stat().cachedBytes()).isEqualTo(16 * MIB);
    assertThat(allocate(10 * MIB).bytes()).isEqualTo(10 * MIB);
    assertThat(pool.stat().trimmedBytes()).isEqualTo(16 * MIB);
    assertThatThrownBy(() -> allocate(10 * MIB)).isInstanceOf(DeviceMemoryExhaustedException.class);
    assertThat(pool.stat().lent()).isEqualTo(1);
  }

  @Test
  void trim_givesTheLargestFirst() {
    for (long mib : new long[] {1, 4, 2}) {
      allocate(mib * MIB);
    }
    scope.close();
    assertThat(pool.trim(3 * MIB)).isEqualTo(4 * MIB);
    assertThat(pool.stat().cachedBytes()).isEqualTo(3 * MIB);
    assertThat(pool.trim(0)).isEqualTo(3 * MIB);
  }

  @Test
  void moreThanMayBeKept_goesBack() {
    DevicePool small = new DevicePool(device, MIB);
    List<DeviceMemory> both = List.of(requireNonNull(small.allocate(MIB, scope).block(LIMIT)),
        requireNonNull(small.allocate(MIB, scope).block(LIMIT)));
    both.forEach(DeviceMemory::close);
    assertThat(small.stat().cachedBytes()).isEqualTo(MIB);
    small.close().block(LIMIT);
    assertThatThrownBy(() -> new DevicePool(device, -1)).hasMessage("maxCachedBytes must be >= 0 (was -1)");
  }

  @Test
  void close_waitsForWhatIsLent_andRefusesWhatComes() {
    DeviceMemory lent = allocate(MIB);
    AtomicInteger closed = new AtomicInteger();
    pool.close().subscribe(nothing -> {}, e -> {}, closed::incrementAndGet);
    assertThat(closed).hasValue(0);
    assertThatThrownBy(() -> allocate(MIB)).isInstanceOf(DeviceClosedException.class);
    lent.close();
    assertThat(closed).hasValue(1);
    assertThat(pool.stat()).isEqualTo(new DevicePoolStat(0, 0, MIB, 0, 0, 1, 0));
  }

  /// A copy that takes its time stands before each allocation.
  @Test
  void cancel_beforeTheMemoryIsThere_leavesNothingLent() {
    VirtualTimeScheduler clock = VirtualTimeScheduler.create();
    SimulatedDevice late = new SimulatedDevice(SimulatedDeviceOptions.defaults(MIB).withLatency(Duration.ofMillis(1)),
        clock, CopyFaults.none());
    DevicePool ofLate = new DevicePool(late, MIB);
    try (Arena host = Arena.ofShared()) {
      MemorySegment there = host.allocate(512);
      DeviceMemory some = requireNonNull(late.allocate(512, scope).block(LIMIT));
      for (int i = 0; i < 1000; i++) {
        BlockScope round = new BlockScope();
        ofLate.trim(0);
        late.copy(new CopyBatch(CopyDirection.TO_HOST).add(there, some.address())).subscribe();
        Disposable waiter = ofLate.allocate(MIB / 2, round).subscribe();
        assertThat(ofLate.stat().lent()).isEqualTo(1);
        if (i % 3 == 0) {
          clock.advanceTimeBy(Duration.ofMillis(1)); // it is lent before the cancel
        }
        waiter.dispose();
        round.close();
        clock.advanceTimeBy(Duration.ofMillis(2));
        assertThat(ofLate.stat().lent()).as("round %d", i).isZero();
        assertThat(late.allocatedBytes()).as("round %d", i).isEqualTo(512 + ofLate.stat().cachedBytes());
      }
    }
    late.close().subscribe();
    clock.advanceTimeBy(Duration.ofMillis(1));
    clock.dispose();
  }

  /// Threads take and close by a seed; no two own the same bytes.
  @Test
  void manyThreads_neverShareMemory() throws InterruptedException {
    ConcurrentSkipListMap<Long, Long> owned = new ConcurrentSkipListMap<>();
    List<Throwable> failures = new ArrayList<>();
    List<Thread> threads = IntStream.range(0, 4).mapToObj(i -> Thread.ofPlatform().start(() -> {
      try {
        play(new Random(SEED + i), owned);
      } catch (Throwable e) {
        synchronized (failures) {
          failures.add(e);
        }
      }
    })).toList();
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(failures).as("seed %d", SEED).isEmpty();
    assertThat(pool.stat().lent()).isZero();
    assertThat(pool.stat().hits()).isPositive();
  }

  private void play(Random random, ConcurrentSkipListMap<Long, Long> owned) {
    List<DeviceMemory> mine = new ArrayList<>();
    for (int i = 0; i < 2000; i++) {
      if (mine.size() < 5 && random.nextBoolean()) {
        DeviceMemory memory = requireNonNull(pool.allocate(1 + random.nextInt(1 << 17), scope).block(LIMIT));
        requireApart(memory, owned);
        mine.add(memory);
      } else if (!mine.isEmpty()) {
        DeviceMemory memory = mine.remove(random.nextInt(mine.size()));
        assertThat(owned.remove(memory.address())).isEqualTo(memory.bytes());
        memory.close();
        memory.close();
      }
    }
    mine.forEach(memory -> owned.remove(memory.address()));
    mine.forEach(DeviceMemory::close);
  }

  private static void requireApart(DeviceMemory memory, ConcurrentSkipListMap<Long, Long> owned) {
    assertThat(owned.put(memory.address(), memory.bytes())).isNull();
    Map.Entry<Long, Long> before = owned.lowerEntry(memory.address());
    Map.Entry<Long, Long> after = owned.higherEntry(memory.address());
    assertThat(before == null || before.getKey() + before.getValue() <= memory.address()).isTrue();
    assertThat(after == null || memory.address() + memory.bytes() <= after.getKey()).isTrue();
  }
}
