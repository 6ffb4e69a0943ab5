package io.penstock.device.sim;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.device.CopyBatch;
import io.penstock.device.CopyDirection;
import io.penstock.device.Device;
import io.penstock.device.DeviceContract;
import io.penstock.device.DeviceFailure.CopyFailedException;
import io.penstock.device.DeviceFailure.DeviceBusyException;
import io.penstock.device.DeviceFailure.DeviceClosedException;
import io.penstock.device.DeviceMemory;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;

final class SimulatedDeviceTest extends DeviceContract {
  private static final SimulatedDeviceOptions OPTIONS = SimulatedDeviceOptions.defaults(1 << 20);

  private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();

  @Override
  protected Device openDevice(int ordinal, long capacityBytes) {
    return SimulatedDevice.open(SimulatedDeviceOptions.defaults(capacityBytes).withOrdinal(ordinal));
  }

  private SimulatedDevice simulated(SimulatedDeviceOptions options, CopyFaults faults) {
    return new SimulatedDevice(options, clock, faults);
  }

  private CompletableFuture<Void> copy(Device device, CopyDirection direction, MemorySegment host, long address) {
    return device.copy(batch(direction, host, address)).toFuture();
  }

  private static void assertFailed(CompletableFuture<?> result, Class<? extends Throwable> type) {
    assertThat(result).isCompletedExceptionally();
    assertThatThrownBy(result::join).hasCauseInstanceOf(type);
  }

  @Test
  void addresses_ofEachDevice_areItsOwnAndNoPointers() {
    DeviceMemory first = allocate(device(0), 64);
    DeviceMemory last = allocate(device(SimulatedDeviceOptions.MAX_DEVICES - 1), 64);
    assertThat(first.address() >>> 48).isEqualTo(0x4000);
    assertThat(last.address() >>> 48).isEqualTo(0x4FFF);
    assertThat(first).hasToString("64 bytes of device memory at 0x4000000000010000");
  }

  @Test
  void addresses_ofFreedMemory_areNotUsedAgain() {
    Device device = device(0);
    DeviceMemory first = allocate(device, 64);
    first.close();
    assertThat(allocate(device, 64).address()).isGreaterThan(first.address());
  }

  @Test
  void errors_tellWhatIsAtTheAddress() {
    Device device = device(0);
    DeviceMemory there = allocate(device, 100);
    DeviceMemory elsewhere = allocate(device(7), 100);
    assertThat(failure(device, there.address() + 90))
        .hasMessageEndingWith("(was only 10 bytes to the end of its allocation)");
    assertThat(failure(device, there.address() + 100)).hasMessageEndingWith("(was not allocated)");
    assertThat(failure(device, there.address() - 1)).hasMessageEndingWith("(was not allocated)");
    assertThat(failure(device, elsewhere.address())).hasMessageEndingWith("(was of device 7)");
    assertThat(failure(device, 4096)).hasMessageEndingWith("(was no address of a device)");
    assertThat(failure(device, -1)).hasMessageEndingWith("(was no address of a device)");
    assertThat(failure(device, Long.MIN_VALUE)).hasMessageEndingWith("(was no address of a device)");
    assertThat(failure(device, Long.MAX_VALUE)).hasMessageEndingWith("(was no address of a device)");
  }

  private Throwable failure(Device device, long address) {
    return device.copy(batch(CopyDirection.TO_DEVICE, host(64), address)).then().materialize()
        .mapNotNull(signal -> signal.getThrowable()).blockOptional(LIMIT).orElseThrow();
  }

  @Test
  void copy_withLatencyAndBandwidth_takesItsTimeOneAfterTheOther() {
    SimulatedDevice device =
        simulated(OPTIONS.withLatency(Duration.ofMillis(1)).withBytesPerSecond(1_000_000), CopyFaults.none());
    CompletableFuture<DeviceMemory> memory = device.allocate(8192, scope).toFuture();
    long address = memory.join().address();
    MemorySegment host = host(4000);
    CompletableFuture<Void> first = copy(device, CopyDirection.TO_DEVICE, host, address);
    CompletableFuture<Void> second = copy(device, CopyDirection.TO_HOST, host, address);

    clock.advanceTimeBy(Duration.ofNanos(4_999_999));
    assertThat(first).isNotDone();
    clock.advanceTimeBy(Duration.ofNanos(1));
    assertThat(first).isCompleted();
    clock.advanceTimeBy(Duration.ofNanos(4_999_999));
    assertThat(second).isNotDone();
    clock.advanceTimeBy(Duration.ofNanos(1));
    assertThat(second).isCompleted();
    assertThat(device.close().toFuture()).isCompleted();
  }

  @Test
  void copy_whenTheQueueIsFull_isRefusedUntilThereIsRoom() {
    SimulatedDevice device = simulated(OPTIONS.withLatency(Duration.ofMillis(1)).withMaxQueued(2), CopyFaults.none());
    long address = device.allocate(64, scope).toFuture().join().address();
    List<CompletableFuture<Void>> taken = new ArrayList<>();
    for (int i = 0; i < 3; i++) { // one under way, two in the queue
      taken.add(copy(device, CopyDirection.TO_DEVICE, host(64), address));
    }
    CompletableFuture<Void> refused = copy(device, CopyDirection.TO_DEVICE, host(64), address);
    assertFailed(refused, DeviceBusyException.class);
    assertThatThrownBy(refused::join)
        .hasMessageContaining("device sim0: work in its queue must be <= 2 (was one more)");

    clock.advanceTimeBy(Duration.ofMillis(1));
    taken.add(copy(device, CopyDirection.TO_DEVICE, host(64), address));
    clock.advanceTimeBy(Duration.ofMillis(3));
    assertThat(taken).allMatch(CompletableFuture::isDone).noneMatch(CompletableFuture::isCompletedExceptionally);
    device.close().toFuture().join();
  }

  @Test
  void close_withTenThousandQueued_endsEachOnceAndFreesAfterThem() {
    SimulatedDevice device =
        simulated(OPTIONS.withLatency(Duration.ofMillis(1)).withMaxQueued(10_000), CopyFaults.none());
    DeviceMemory memory = device.allocate(64, scope).toFuture().join();
    List<CompletableFuture<Void>> copies = new ArrayList<>();
    MemorySegment host = host(64);
    for (int i = 0; i <= 10_000; i++) {
      copies.add(copy(device, CopyDirection.TO_DEVICE, host, memory.address()));
    }
    CompletableFuture<Void> closed = device.close().toFuture();
    assertThat(closed).isNotDone();
    assertThat(device.allocatedBytes()).isEqualTo(64);

    clock.advanceTimeBy(Duration.ofMillis(1));
    assertThat(closed).isCompleted();
    assertThat(copies.getFirst()).isCompleted();
    copies.subList(1, copies.size()).forEach(copy -> assertFailed(copy, DeviceClosedException.class));
    assertThat(device.allocatedBytes()).isZero();
    memory.close();
  }

  @Test
  void fault_failsTheBatchItIsMeantFor() {
    SimulatedDevice device = simulated(OPTIONS, CopyFaults.at(2, new CopyFault.Fail(0, 507_046)));
    long address = device.allocate(64, scope).toFuture().join().address();
    assertThat(copy(device, CopyDirection.TO_DEVICE, host(64), address)).isCompleted();
    CompletableFuture<Void> second = copy(device, CopyDirection.TO_DEVICE, host(64), address);
    assertFailed(second, CopyFailedException.class);
    assertThatThrownBy(second::join)
        .hasMessageContaining("device sim0: copy of 1 elements TO_DEVICE must succeed (was code 507046 at element 0)");
    assertThat(copy(device, CopyDirection.TO_DEVICE, host(64), address)).isCompleted();
    device.close().toFuture().join();
  }

  @Test
  void fault_corruptsOneBitWhereItArrives() {
    SimulatedDevice device = simulated(OPTIONS, CopyFaults.at(1, new CopyFault.Corrupt(0, 5)));
    long address = device.allocate(64, scope).toFuture().join().address();
    MemorySegment source = host(64);
    MemorySegment back = host(64);
    assertThat(copy(device, CopyDirection.TO_DEVICE, source, address)).isCompleted();
    assertThat(copy(device, CopyDirection.TO_HOST, back, address)).isCompleted();
    assertThat(back.mismatch(source)).isEqualTo(5);
    assertThat(back.get(JAVA_BYTE, 5)).isEqualTo((byte) 1);
    assertThat(source.get(JAVA_BYTE, 5)).isZero();
    device.close().toFuture().join();
  }

  @Test
  void thread_thatIsGone_endsWhatWasQueued() {
    Scheduler thread = Schedulers.newSingle("gone");
    SimulatedDevice device = new SimulatedDevice(OPTIONS, thread, CopyFaults.none());
    long address = device.allocate(64, scope).toFuture().join().address();
    thread.disposeGracefully().block(LIMIT); // gone, not only told to go: its last task may take more work with it
    assertFailed(copy(device, CopyDirection.TO_DEVICE, host(64), address), DeviceClosedException.class);
    device.close().block(LIMIT);
    assertThat(device.allocatedBytes()).isZero();
  }

  @Test
  void options_outOfRange_nameRuleAndValue() {
    assertThatThrownBy(() -> SimulatedDeviceOptions.defaults(0)).hasMessage("capacityBytes must be > 0 (was 0)");
    assertThatThrownBy(() -> OPTIONS.withOrdinal(4096)).hasMessage("ordinal must be in [0, 4096) (was 4096)");
    assertThatThrownBy(() -> OPTIONS.withLatency(Duration.ofNanos(-1)))
        .hasMessage("latency must be >= 0 (was PT-0.000000001S)");
    assertThatThrownBy(() -> OPTIONS.withBytesPerSecond(0)).hasMessage("bytesPerSecond must be > 0 (was 0)");
    assertThatThrownBy(() -> OPTIONS.withMaxQueued(0)).hasMessage("maxQueued must be > 0 (was 0)");
    assertThat(new CopyBatch(CopyDirection.TO_HOST)).hasToString("batch of 0 elements, 0 bytes TO_HOST");
  }
}
