package io.penstock.device.ascend;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockScope;
import io.penstock.device.CopyBatch;
import io.penstock.device.CopyDirection;
import io.penstock.device.CopyFailedException;
import io.penstock.device.Device;
import io.penstock.device.DeviceMemory;
import io.penstock.device.DeviceMemoryExhaustedException;
import io.penstock.device.DeviceQueue;
import io.penstock.device.DeviceRegions;
import io.penstock.device.DeviceRegions.Region;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Scheduler;

/// One device behind a `libascendcl.so`. Its addresses are pointers that only the library may follow.
///
/// Context and stream belong to the device's own thread, which sets the context for each piece of work and puts back what was there. At
/// close memory is freed, the stream destroyed, then the context.
public final class AscendDevice implements Device {
  private final int logicalId;
  private final int physicalId;
  private final String name;
  private final AclRuntime runtime;
  private final AclMemory memory;
  private final DeviceQueue queue;
  private final Mono<Void> close;
  private final AtomicLong allocated = new AtomicLong();
  private final Arena arguments = Arena.ofShared();
  private final long capacityBytes;
  /// All below are of the device's thread, once it is open.
  private final MemorySegment context;
  private final AclEngine engine;
  private final DeviceRegions<MemoryPlace> regions;
  private final MemoryPlaces places;

  /// Opens it: runs on the device's thread, which has this context from then on only while it works for it.
  ///
  /// @param closed runs last, on the device's thread
  AscendDevice(int logicalId, AclRuntime runtime, AscendOptions options, Scheduler thread, AscendListener listener, Runnable closed) {
    this.logicalId = logicalId;
    this.physicalId = runtime.physicalId(logicalId);
    this.name = "npu" + logicalId;
    this.runtime = runtime;
    this.memory = new AclMemory(runtime.library());
    this.context = runtime.createContext(logicalId);
    this.capacityBytes = runtime.memory().free();
    this.engine = new AclEngine(logicalId, runtime, arguments, options, System::nanoTime, listener);
    this.regions = new DeviceRegions<>(name, address -> null);
    this.places = new MemoryPlaces(memory, regions);
    this.queue = new DeviceQueue(name, options.maxQueued(), thread);
    this.close = queue.close(this::end).doOnTerminate(closed);
  }

  @Override
  public int ordinal() {
    return logicalId;
  }

  /// Number that the machine has for it; [#ordinal] is the one of this process.
  public int physicalId() {
    return physicalId;
  }

  @Override
  public String name() {
    return name;
  }

  /// What was free when it was opened.
  @Override
  public long capacityBytes() {
    return capacityBytes;
  }

  @Override
  public long allocatedBytes() {
    return allocated.get();
  }

  @Override
  public Mono<DeviceMemory> allocate(long bytes, BlockScope scope) {
    requireNonNull(scope, "scope");
    if (bytes <= 0) {
      throw new IllegalArgumentException("bytes must be > 0 (was " + bytes + ")");
    }
    return this.<DeviceMemory>submitted(sink -> allocate(bytes, scope, sink), () -> {});
  }

  private void allocate(long bytes, BlockScope scope, MonoSink<DeviceMemory> sink) {
    long address;
    try {
      address = memory.allocate(bytes);
    } catch (AscendMemoryException e) {
      sink.error(new DeviceMemoryExhaustedException(name, bytes, Math.max(0, capacityBytes - allocated.get()), e));
      return;
    }
    regions.add(address, bytes, new MemoryPlace(logicalId));
    allocated.addAndGet(bytes);
    sink.success(scope.adopt(new DeviceMemory(address, bytes, () -> queue.submitReturn(() -> inContext(() -> free(address))))));
  }

  @Override
  public Mono<Void> copy(CopyBatch batch) {
    requireNonNull(batch, "batch");
    return Mono.defer(() -> {
      batch.take();
      return this.<Void>submitted(sink -> {
        try {
          copy(batch, sink);
        } finally {
          batch.close();
        }
      }, batch::close);
    });
  }

  private void copy(CopyBatch batch, MonoSink<Void> sink) {
    batch.check();
    regions.require(batch);
    CopyReport report = engine.copy(new BatchElements(batch, new MemoryPlace(logicalId)));
    batch.close(); // before the result is heard
    if (report.isComplete()) {
      sink.success();
    } else {
      sink.error(new CopyFailedException(name, batch.direction(), report.elements(), report.firstFailed(), report.code()));
    }
  }

  /// Makes the copies of `request`, of any number and any mix of ways, on memory that this device reaches. A request has results for each
  /// element; an element that fails fails no other call.
  ///
  /// @return cold, for one subscription at a time; signals [io.penstock.device.DeviceBusyException] and
  ///     [io.penstock.device.DeviceClosedException] with nothing copied
  public Mono<CopyReport> copy(CopyRequest request) {
    requireNonNull(request, "request");
    return submitted(sink -> sink.success(engine.copy(places.of(request))), () -> {});
  }

  /// Tells that `bytes` at `address` are host memory, so that copies need not ask the library for each of their elements.
  public Mono<Void> know(MemorySegment hostMemory) {
    return submitted(sink -> {
      regions.add(hostMemory.address(), hostMemory.byteSize(), MemoryPlace.HOST);
      sink.success();
    }, () -> {});
  }

  @Override
  public Mono<Void> close() {
    return close;
  }

  /// Work on the device's thread, in its context; what `work` throws is the result.
  private <T> Mono<T> submitted(Consumer<MonoSink<T>> work, Runnable refused) {
    return Mono.create(sink -> queue.submit(new DeviceQueue.Work() {
      @Override
      public void run() {
        try {
          inContext(() -> work.accept(sink));
        } catch (Throwable e) { // the result of this work, and of no other
          sink.error(e);
        }
      }

      @Override
      public void refuse(RuntimeException reason) {
        refused.run();
        sink.error(reason);
      }
    }));
  }

  /// Threads are the scheduler's, who may do other things with them.
  private void inContext(Runnable work) {
    MemorySegment before = runtime.context();
    runtime.setContext(context);
    try {
      work.run();
    } finally {
      runtime.setContext(before);
    }
  }

  private void free(long address) {
    Region<MemoryPlace> freed = regions.remove(address);
    if (freed != null && !freed.memory().isHost()) {
      memory.free(address);
      allocated.addAndGet(-freed.bytes());
    }
  }

  private void end() {
    inContext(() -> {
      for (Region<MemoryPlace> last = regions.last(); last != null; last = regions.last()) {
        free(last.address());
      }
      engine.close();
    });
    runtime.destroyContext(context);
    arguments.close();
  }

  @Override
  public String toString() {
    return "device " + name;
  }

  /// A batch of the port: host memory needs no question, and the device's side was looked up before.
  private record BatchElements(CopyBatch batch, MemoryPlace device) implements AclEngine.Elements {
    private boolean isUp() {
      return batch.direction() == CopyDirection.TO_DEVICE;
    }

    @Override
    public int count() {
      return batch.elements();
    }

    @Override
    public long from(int element) {
      return isUp() ? batch.host(element).address() : batch.device(element);
    }

    @Override
    public long to(int element) {
      return isUp() ? batch.device(element) : batch.host(element).address();
    }

    @Override
    public long bytes(int element) {
      return batch.host(element).byteSize();
    }

    @Override
    public MemoryPlace source(int element) {
      return isUp() ? MemoryPlace.HOST : device;
    }

    @Override
    public MemoryPlace target(int element) {
      return isUp() ? device : MemoryPlace.HOST;
    }

    @Override
    public void ended(int element, int code) {
      // the report has the first failure, which is the batch's
    }
  }
}
