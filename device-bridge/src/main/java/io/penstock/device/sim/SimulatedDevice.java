package io.penstock.device.sim;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockScope;
import io.penstock.check.Checks;
import io.penstock.device.CopyBatch;
import io.penstock.device.CopyCounts;
import io.penstock.device.CopyTurns;
import io.penstock.device.DeviceFailure.CopyFailedException;
import io.penstock.device.DeviceFailure.DeviceMemoryExhaustedException;
import io.penstock.device.DeviceMemory;
import io.penstock.device.DeviceQueue;
import io.penstock.device.SharedName.IpcKey;
import io.penstock.device.SharingDevice;
import io.penstock.operator.Failures;
import io.penstock.tier.TierStat;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// A device whose memory is host memory under its own addresses, for tests and machines without an accelerator.
///
/// Time passes on the scheduler's clock: a batch takes its latency and its bytes at the link's speed, then all bytes
/// move at once, and the next batch begins. The order of elements varies from batch to batch, so that no caller relies
/// on one. With a virtual clock each run is the same.
public final class SimulatedDevice implements SharingDevice {
  /// Steps through the elements of a batch; a prime above the most there can be, so that each is met once.
  private static final int STRIDE = 7919;

  private final SimulatedDeviceOptions options;
  private final CopyFaults faults;
  private final SimulatedMemory memory;
  private final DeviceQueue queue;
  private final Mono<Void> close;
  private final AtomicLong allocated = new AtomicLong();
  private final CopyCounts counts;
  private final CopyTurns turns;
  /// Used by the device's thread.
  private long batches;

  /// @param thread of this device alone, or a clock under test; the caller ends it after [#close()]
  public SimulatedDevice(SimulatedDeviceOptions options, Scheduler thread, CopyFaults faults) {
    this(options, thread, faults, () -> {});
  }

  private SimulatedDevice(SimulatedDeviceOptions options, Scheduler thread, CopyFaults faults, Runnable afterClose) {
    this.options = requireNonNull(options, "options");
    this.faults = requireNonNull(faults, "faults");
    this.memory = new SimulatedMemory(options.ordinal(), options.name());
    this.counts = new CopyCounts(options.name());
    this.turns = new CopyTurns(options.name(), CopyTurns.USUAL, options.maxQueued());
    this.queue = new DeviceQueue(options.name(), options.maxQueued(), thread);
    this.close = queue.close(this::freeAll).doOnTerminate(afterClose);
  }

  /// A device with a platform thread of its own, which ends when the device was closed.
  public static SimulatedDevice open(SimulatedDeviceOptions options) {
    Scheduler thread = Schedulers.newSingle("penstock-device-" + options.name(), true);
    return new SimulatedDevice(options, thread, CopyFaults.none(), thread::dispose);
  }

  @Override
  public int ordinal() {
    return options.ordinal();
  }

  @Override
  public String name() {
    return options.name();
  }

  @Override
  public long capacityBytes() {
    return options.capacityBytes();
  }

  @Override
  public long allocatedBytes() {
    return allocated.get();
  }

  @Override
  public Mono<DeviceMemory> allocate(long bytes, BlockScope scope) {
    requireNonNull(scope, "scope");
    Checks.positive("bytes", bytes);
    return called(() -> allocated(bytes, scope));
  }

  @Override
  public Mono<IpcKey> export(DeviceMemory allocation) {
    requireNonNull(allocation, "allocation");
    return called(() -> memory.export(allocation.address(), allocation.bytes()));
  }

  /// Imports memory that this device has in this process: no other one has it.
  @Override
  public Mono<DeviceMemory> importShared(IpcKey key, long bytes, BlockScope scope) {
    requireNonNull(scope, "scope");
    return called(() -> scope.adopt(new DeviceMemory(memory.open(key, bytes), bytes, () -> {})));
  }

  /// Runs `work` on the device's thread.
  private <T> Mono<T> called(Supplier<T> work) {
    return Mono.create(sink -> queue.submit(new Call<>(work, sink)));
  }

  @Override
  public Mono<Void> copy(CopyBatch batch) {
    requireNonNull(batch, "batch");
    return Mono.create(sink -> {
      batch.take();
      queue.submit(new Copy(batch, sink));
    });
  }

  @Override
  public CopyTurns turns() {
    return turns;
  }

  @Override
  public TierStat.Copies copies() {
    return counts.stat();
  }

  @Override
  public Mono<Void> close() {
    return close;
  }

  private DeviceMemory allocated(long bytes, BlockScope scope) {
    long free = options.capacityBytes() - allocated.get();
    if (bytes > free) {
      throw new DeviceMemoryExhaustedException(name(), bytes, free);
    }
    long address;
    try {
      address = memory.allocate(bytes);
    } catch (OutOfMemoryError e) {
      throw new DeviceMemoryExhaustedException(name(), bytes, free, e);
    }
    allocated.addAndGet(bytes);
    return scope.adopt(new DeviceMemory(address, bytes, () -> queue.submitReturn(() -> free(address))));
  }

  private record Call<T>(Supplier<T> work, MonoSink<T> sink) implements DeviceQueue.Work {
    @Override
    public void run() {
      T done;
      try {
        done = work.get();
      } catch (RuntimeException | Error e) {
        sink.error(Failures.passable(e));
        return;
      }
      sink.success(done);
    }

    @Override
    public void refuse(RuntimeException reason) {
      sink.error(reason);
    }
  }

  private final class Copy implements DeviceQueue.Work {
    private final CopyBatch batch;
    private final MonoSink<Void> sink;

    Copy(CopyBatch batch, MonoSink<Void> sink) {
      this.batch = batch;
      this.sink = sink;
    }

    @Override
    public long nanos() {
      return options.nanos(batch.bytes());
    }

    @Override
    public void run() {
      Throwable failure = copied(batch);
      batch.close();
      if (failure == null) {
        sink.success();
      } else {
        sink.error(failure);
      }
    }

    @Override
    public void refuse(RuntimeException reason) {
      batch.close();
      sink.error(reason);
    }
  }

  /// Why the copies of `batch` were not made, or null.
  private @Nullable Throwable copied(CopyBatch batch) {
    try {
      batches++;
      batch.check();
      memory.require(batch);
      counts.called(1, batch.elements(), batch.bytes());
      CopyFault fault = faults.of(batches, batch);
      if (fault instanceof CopyFault.Fail fail) {
        copy(batch, batch.elements() / 2);
        counts.failed(batch.elements());
        return new CopyFailedException(name(), batch.direction(), batch.elements(), fail.element(), fail.code());
      }
      copy(batch, batch.elements());
      if (fault instanceof CopyFault.Corrupt corrupt) {
        memory.corrupt(batch, corrupt.element(), corrupt.offset());
      }
      return null;
    } catch (Throwable e) { // the result of this batch, and of no other
      return e;
    }
  }

  private void copy(CopyBatch batch, int count) {
    int elements = batch.elements();
    int element = (int) (batches % elements);
    for (int i = 0; i < count; i++) {
      memory.copy(batch, element);
      element = (element + STRIDE) % elements;
    }
  }

  private void free(long address) {
    allocated.addAndGet(-memory.free(address));
  }

  private void freeAll() {
    for (long address = memory.last(); address != 0; address = memory.last()) {
      free(address);
    }
  }

  @Override
  public String toString() {
    return "device " + name();
  }
}
