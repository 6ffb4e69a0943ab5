package io.penstock.device;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockScope;
import io.penstock.block.Owned;
import io.penstock.device.DeviceFailure.DeviceAddressException;
import io.penstock.device.DeviceFailure.DeviceClosedException;
import io.penstock.device.DeviceFailure.DeviceMemoryExhaustedException;
import io.penstock.testkit.LeakLedger;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

/// What every [Device] promises, as tests: extend it and open one.
@Timeout(60)
public abstract class DeviceContract {
  protected static final Duration LIMIT = Duration.ofSeconds(20);
  private static final long MIB = 1 << 20;

  @RegisterExtension
  protected final LeakLedger leaks = new LeakLedger();

  protected final BlockScope scope = new BlockScope();
  private final Arena memory = Arena.ofShared();
  private final List<Device> opened = new ArrayList<>();
  private final AtomicInteger held = new AtomicInteger();

  /// A device of 64 MiB on a thread of its own, that takes at least 1,024 batches in its queue.
  protected abstract Device openDevice(int ordinal, long capacityBytes);

  @AfterEach
  void closeAll() {
    opened.forEach(device -> device.close().block(LIMIT));
    opened.forEach(device -> assertThat(device.allocatedBytes()).isZero());
    memory.close();
    assertThat(held).as("holds of batches").hasValue(0);
  }

  /// A hold that is counted.
  protected final Owned hold() {
    held.incrementAndGet();
    return new Owned() {
      @Override
      protected void free() {
        held.decrementAndGet();
      }
    };
  }

  protected final Device device(int ordinal) {
    Device device = openDevice(ordinal, 64 * MIB);
    opened.add(device);
    return device;
  }

  protected final DeviceMemory allocate(Device device, long bytes) {
    return requireNonNull(device.allocate(bytes, scope).block(LIMIT));
  }

  protected final MemorySegment host(long bytes) {
    return memory.allocate(bytes, 64);
  }

  private MemorySegment numbered(long bytes) {
    MemorySegment made = host(bytes);
    for (long i = 0; i < bytes; i++) {
      made.set(JAVA_BYTE, i, (byte) (i * 31 + (i >>> 8)));
    }
    return made;
  }

  protected final CopyBatch batch(CopyDirection direction, MemorySegment host, long address) {
    return new CopyBatch(direction).add(host, address).hold(hold());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4095, 4096})
  void copy_thereAndBack_bringsTheSameBytes(int elements) {
    Device device = device(0);
    int bytes = 512;
    DeviceMemory there = allocate(device, (long) elements * bytes);
    MemorySegment source = numbered((long) elements * bytes);
    MemorySegment back = host((long) elements * bytes);
    CopyBatch up = new CopyBatch(CopyDirection.TO_DEVICE).hold(hold());
    CopyBatch down = new CopyBatch(CopyDirection.TO_HOST).hold(hold());
    for (int i = 0; i < elements; i++) {
      up.add(source.asSlice((long) i * bytes, bytes).asReadOnly(), there.address() + (long) (elements - 1 - i) * bytes);
      down.add(back.asSlice((long) i * bytes, bytes), there.address() + (long) (elements - 1 - i) * bytes);
    }
    device.copy(up).block(LIMIT);
    device.copy(down).block(LIMIT);
    assertThat(back.mismatch(source)).isEqualTo(-1);
  }

  @Test
  void copy_elementPastTheEnd_namesItAndCopiesNothing() {
    Device device = device(0);
    DeviceMemory there = allocate(device, 4096);
    MemorySegment back = host(4096);
    CopyBatch batch = batch(CopyDirection.TO_HOST, numbered(1024), there.address()).add(back.asSlice(0, 1024),
        there.address() + 3073);
    MemorySegment first = batch.host(0);
    assertThatThrownBy(() -> device.copy(batch).block(LIMIT)).isInstanceOfSatisfying(DeviceAddressException.class,
        e -> {
          assertThat(e.failIndex()).isOne();
          assertThat(e.address()).isEqualTo(there.address() + 3073);
          assertThat(e.bytes()).isEqualTo(1024);
          assertThat(e).hasMessageContaining("must lie inside one allocation of device " + device.name());
        });
    assertThat(first.mismatch(numbered(1024))).isEqualTo(-1);
  }

  @Test
  void copy_addressOfTheHost_isNoAddressOfTheDevice() {
    Device device = device(0);
    MemorySegment host = host(64);
    assertThatThrownBy(() -> device.copy(batch(CopyDirection.TO_DEVICE, host, host.address())).block(LIMIT))
        .isInstanceOf(DeviceAddressException.class);
  }

  @Test
  void copy_addressOfAnotherDevice_isRefused() {
    Device device = device(0);
    Device other = device(1);
    DeviceMemory there = allocate(other, 4096);
    assertThatThrownBy(() -> device.copy(batch(CopyDirection.TO_DEVICE, host(64), there.address())).block(LIMIT))
        .isInstanceOfSatisfying(DeviceAddressException.class, e -> assertThat(e.failIndex()).isZero());
    other.copy(batch(CopyDirection.TO_DEVICE, host(64), there.address())).block(LIMIT);
  }

  @Test
  void copy_memoryThatWasFreed_isRefused() {
    Device device = device(0);
    DeviceMemory there = allocate(device, 4096);
    assertThat(device.allocatedBytes()).isEqualTo(4096);
    there.close();
    assertThatThrownBy(() -> device.copy(batch(CopyDirection.TO_HOST, host(64), there.address())).block(LIMIT))
        .isInstanceOf(DeviceAddressException.class);
    assertThat(device.allocatedBytes()).isZero();
  }

  @Test
  void copy_beforeItItsCheck_whoseErrorIsTheResult() {
    Device device = device(0);
    DeviceMemory there = allocate(device, 4096);
    CopyBatch batch = batch(CopyDirection.TO_DEVICE, host(64), there.address()).before(() -> {
      throw new IllegalStateException("no");
    });
    assertThatThrownBy(() -> device.copy(batch).block(LIMIT)).hasMessage("no");
  }

  @Test
  void copy_batchThatWasCopied_isRefusedTheSecondTime() {
    Device device = device(0);
    CopyBatch batch = batch(CopyDirection.TO_DEVICE, host(64), allocate(device, 4096).address());
    device.copy(batch).block(LIMIT);
    assertThatThrownBy(() -> device.copy(batch).block(LIMIT)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void allocate_moreThanThereIs_failsAndLeavesTheRest() {
    Device device = device(0);
    DeviceMemory most = allocate(device, 63 * MIB);
    assertThatThrownBy(() -> allocate(device, 2 * MIB)).isInstanceOfSatisfying(DeviceMemoryExhaustedException.class,
        e -> {
          assertThat(e.neededBytes()).isEqualTo(2 * MIB);
          assertThat(e.freeBytes()).isEqualTo(MIB);
        });
    allocate(device, MIB);
    most.close();
    allocate(device, 2 * MIB);
    assertThatThrownBy(() -> device.allocate(0, scope)).hasMessage("bytes must be > 0 (was 0)");
  }

  @Test
  void allocate_scopeClosed_freesTheMemory() {
    Device device = device(0);
    allocate(device, MIB);
    leaks.watch("bytes of a device", device::allocatedBytes);
    scope.close();
    assertThat(device.allocate(MIB, scope).block(LIMIT)).matches(DeviceMemory::isClosed);
    leaks.awaitEmpty(LIMIT);
  }

  @Test
  void results_comeOnOnePlatformThreadOfTheDevice() {
    Device device = device(0);
    Queue<Thread> threads = new ConcurrentLinkedQueue<>();
    DeviceMemory there = requireNonNull(
        device.allocate(4096, scope).doOnNext(memory -> threads.add(Thread.currentThread())).block(LIMIT));
    device
        .copy(
            batch(CopyDirection.TO_DEVICE, host(64), there.address()).before(() -> threads.add(Thread.currentThread())))
        .doOnTerminate(() -> threads.add(Thread.currentThread())).block(LIMIT);
    assertThat(threads).hasSize(3).doesNotContain(Thread.currentThread()).noneMatch(Thread::isVirtual);
    assertThat(threads.stream().distinct()).hasSize(1);
  }

  @Test
  void copy_cancelled_holdsItsMemoryUntilItEnded() throws InterruptedException {
    Device device = device(0);
    DeviceMemory there = allocate(device, 4096);
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    Owned hold = hold();
    CopyBatch batch = new CopyBatch(CopyDirection.TO_DEVICE).add(host(64), there.address()).hold(hold).before(() -> {
      begun.countDown();
      await(goOn);
    });
    Disposable copy = device.copy(batch).subscribe();
    assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
    copy.dispose();
    assertThat(hold.isClosed()).isFalse();

    goOn.countDown();
    device.copy(batch(CopyDirection.TO_DEVICE, host(64), there.address())).block(LIMIT);
    assertThat(hold.isClosed()).isTrue();
  }

  @Test
  void close_withWorkQueued_endsEachOnceAndInOrder() throws InterruptedException {
    Device device = device(0);
    DeviceMemory there = allocate(device, 4096);
    CountDownLatch goOn = new CountDownLatch(1);
    CountDownLatch begun = new CountDownLatch(1);
    int queued = 1000;
    AtomicInteger[] results = new AtomicInteger[queued + 1];
    Queue<String> order = new ConcurrentLinkedQueue<>();
    MemorySegment host = host(64);
    for (int i = 0; i <= queued; i++) {
      AtomicInteger mine = results[i] = new AtomicInteger();
      CopyBatch batch = batch(CopyDirection.TO_DEVICE, host, there.address());
      if (i == 0) {
        batch.before(() -> {
          begun.countDown();
          await(goOn);
        });
      }
      device.copy(batch).subscribe(nothing -> {}, error -> {
        mine.incrementAndGet();
        order.add(error.getClass().getSimpleName());
      }, () -> {
        mine.incrementAndGet();
        order.add("done");
      });
    }
    assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
    device.close().doOnTerminate(() -> order.add("closed")).subscribe();
    assertThatThrownBy(() -> device.copy(batch(CopyDirection.TO_DEVICE, host, there.address())).block(LIMIT))
        .isInstanceOf(DeviceClosedException.class);
    goOn.countDown();
    device.close().block(LIMIT);

    assertThat(results).allMatch(result -> result.get() == 1);
    List<String> told = List.copyOf(order);
    assertThat(told).hasSize(queued + 2).startsWith("done").endsWith("closed");
    assertThat(told.subList(1, queued + 1)).containsOnly("DeviceClosedException");
    assertThat(device.allocatedBytes()).isZero();
  }

  @Test
  void close_twice_completesBothTimesAndRefusesWhatComes() {
    Device device = device(0);
    device.close().block(LIMIT);
    device.close().block(LIMIT);
    assertThatThrownBy(() -> allocate(device, 64)).isInstanceOf(DeviceClosedException.class)
        .hasMessage("device " + device.name() + " must be open (was closed)");
  }

  @Test
  void copy_fromManyThreadsWhileItCloses_endsEachOnce() {
    for (int round = 0; round < 20; round++) {
      Device device = device(0);
      DeviceMemory there = allocate(device, 4096);
      MemorySegment host = host(64);
      AtomicInteger ended = new AtomicInteger();
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < 4; t++) {
        threads.add(Thread.ofPlatform().start(() -> Flux.range(0, 100).concatMap(i -> device.copy(
            batch(CopyDirection.TO_DEVICE, host, there.address())).onErrorComplete(DeviceClosedException.class)
            .doOnTerminate(ended::incrementAndGet)).blockLast(LIMIT)));
      }
      device.close().block(LIMIT);
      threads.forEach(DeviceContract::join);
      assertThat(ended).hasValue(400);
    }
  }

  private static void join(Thread thread) {
    try {
      assertThat(thread.join(LIMIT)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
