package io.penstock.device.ascend;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockScope;
import io.penstock.device.CopyBatch;
import io.penstock.device.CopyCounts;
import io.penstock.device.CopyTurns;
import io.penstock.device.DeviceMemory;
import io.penstock.device.DeviceQueue;
import io.penstock.device.SharedName.FabricHandle;
import io.penstock.device.SharedName.IpcKey;
import io.penstock.device.SharingDevice;
import io.penstock.device.ascend.acl.AclLibrary;
import io.penstock.device.ascend.acl.AclRuntime;
import io.penstock.device.ascend.acl.MemoryPlace;
import io.penstock.device.ascend.acl.Rollback;
import io.penstock.device.ascend.failure.AscendFailure.AscendUnsupportedException;
import io.penstock.device.memory.HostMemory;
import io.penstock.device.memory.HostMemorySource;
import io.penstock.device.memory.MemoryListener;
import io.penstock.device.memory.StagingPool;
import io.penstock.tier.TierStat;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// One device behind a `libascendcl.so`. Its addresses are pointers that only the library may follow.
///
/// Context and stream belong to the device's own thread, which sets the context for each piece of work and restores the
/// earlier one afterwards. At close streams are destroyed, memory is freed, then the context is destroyed; a failing
/// step prevents no other step.
///
/// A device that neither made the copies of a stream in time nor aborted them may still make them. It keeps their
/// batches, and fails all others, until the copies are done or it is closed.
public final class AscendDevice implements SharingDevice {
  private final int logicalId;
  private final int physicalId;
  private final String name;
  private final AscendThread thread;
  private final AscendMemory memories;
  private final AscendCopies copies;
  private final Mono<Void> close;
  private final CopyCounts counts;
  private final CopyTurns turns;
  private final long capacityBytes;
  /// The device's thread alone uses the fields below, once the device is open.
  private final AclEngine engine;
  private final AscendRegions regions;

  /// Opens the device on its thread, which has this context from then on only while it works for it. If this throws,
  /// all resources are given back.
  ///
  /// @param closed runs last, on the device's thread
  AscendDevice(int logicalId, AclRuntime runtime, AscendOptions options, Scheduler scheduler, AscendListener listener,
      Runnable closed) {
    this.logicalId = logicalId;
    this.physicalId = runtime.physicalId(logicalId);
    this.name = "npu" + logicalId;
    Rollback opened = new Rollback();
    try {
      MemorySegment context = runtime.createContext(logicalId);
      opened.then(() -> runtime.destroyContext(context));
      Arena arguments = Arena.ofShared();
      opened.then(arguments::close);
      this.capacityBytes = runtime.memory().free();
      this.counts = new CopyCounts(name);
      this.turns = new CopyTurns(name, options.maxInFlight(), options.maxQueued());
      this.engine = new AclEngine(logicalId, runtime, arguments, options, System::nanoTime,
          new CountingListener(counts, listener));
      this.regions = new AscendRegions(logicalId, physicalId, name, runtime.library(), options.shared());
      this.thread = new AscendThread(runtime, context, new DeviceQueue(name, options.maxQueued(), scheduler));
      this.memories = new AscendMemory(name, capacityBytes, thread, regions);
      this.copies = new AscendCopies(logicalId, name, thread, engine, regions);
      this.close = thread.queue().close(() -> end(opened, closed));
    } catch (Throwable e) {
      throw AclLibrary.unexpected(opened.run(e));
    }
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

  /// Memory that was free when the device was opened.
  @Override
  public long capacityBytes() {
    return capacityBytes;
  }

  @Override
  public long allocatedBytes() {
    return regions.allocatedBytes();
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
  public Mono<DeviceMemory> allocate(long bytes, BlockScope scope) {
    return memories.allocate(bytes, scope);
  }

  /// Host memory through the driver: this device reaches it without a copy in between. It has the largest pages
  /// available, if possible on the NUMA node of the device. The device's thread allocates it; closing the device ends
  /// all access to it.
  ///
  /// @param listener receives allocations, frees and fallbacks
  public HostMemorySource hostMemory(MemoryListener listener) {
    return new AscendHostMemory(name, memories, requireNonNull(listener, "listener"));
  }

  /// Exports `memory` of [#hostMemory] to other processes of the fabric, on any machine. The handle ends with the
  /// memory.
  ///
  /// @return cold; signals an `AscendFailure`, an [AscendUnsupportedException] without [AscendFeature#FABRIC_MEMORY]
  public Mono<FabricHandle> export(HostMemory memory) {
    return memories.exportToFabric(memory);
  }

  /// Exports device memory to the fabric, which must have been allocated with [AscendOptions#shared].
  public Mono<FabricHandle> exportToFabric(DeviceMemory memory) {
    return memories.exportToFabric(memory);
  }

  /// @return cold; signals an `AscendFailure`, an [AscendUnsupportedException] without [AscendFeature#IPC_MEMORY]
  @Override
  public Mono<IpcKey> export(DeviceMemory memory) {
    return memories.export(memory);
  }

  /// @return cold; signals `AlreadyImportedException`, or an `AscendFailure`, an [AscendUnsupportedException] without
  ///     [AscendFeature#IPC_MEMORY]
  @Override
  public Mono<DeviceMemory> importShared(IpcKey key, long bytes, BlockScope scope) {
    return memories.open(key, bytes, scope);
  }

  /// Imports memory that another process has exported to the fabric, mapped for the host and for this device. Only
  /// [#copy(CopyRequest)] reaches host memory of that kind.
  ///
  /// @param bytes length of the memory, which the library does not tell
  /// @param scope owns the mapping; closing it does not free the exporter's memory
  /// @return cold; signals an `AscendFailure`, an [AscendUnsupportedException] without [AscendFeature#FABRIC_MEMORY]
  public Mono<DeviceMemory> importShared(FabricHandle handle, long bytes, BlockScope scope) {
    return memories.open(handle, bytes, scope);
  }

  @Override
  public Mono<Void> copy(CopyBatch batch) {
    return copies.copy(batch);
  }

  /// Makes the copies of `request`, of any number and any mix of ways, on memory that this device reaches. Each element
  /// has a result; a failing element fails no other call.
  ///
  /// The holds of the request are closed when its copies have ended. After a timeout that may be later than the result:
  /// the memory of these elements may still be read and written until a later request has another answer.
  ///
  /// @return cold, for one subscription each time that the request was made ready; signals
  ///     [io.penstock.device.DeviceFailure.DeviceBusyException] and
  ///     [io.penstock.device.DeviceFailure.DeviceClosedException] with nothing copied
  public Mono<CopyReport> copy(CopyRequest request) {
    return copies.copy(request);
  }

  /// Registers `hostMemory` as the host's, so that copies need not ask the library about each element in it.
  public Mono<Void> know(MemorySegment hostMemory) {
    return thread.submitted(sink -> {
      regions.places().know(hostMemory.address(), hostMemory.byteSize(), MemoryPlace.HOST);
      sink.success();
    });
  }

  /// Ends [#know]. Call it before the memory is freed: its addresses may belong to other memory afterwards.
  public Mono<Void> forget(MemorySegment hostMemory) {
    return thread.submitted(sink -> {
      regions.places().forget(hostMemory.address());
      sink.success();
    });
  }

  /// Routes copies between the device and unknown host memory through the buffers of `pool` from now on. Memory is
  /// known from [#hostMemory] or [#know]. An element that is larger than a buffer is copied as it is, and so is one
  /// that finds no free buffer. More bytes than the buffers hold take more than one call.
  ///
  /// @param pool of memory that this device knows; to be closed after the device
  public Mono<Void> stage(StagingPool pool) {
    return copies.stage(pool);
  }

  @Override
  public Mono<Void> close() {
    return close;
  }

  /// Undoes the opening, and what came after it, in reverse.
  private void end(Rollback opened, Runnable closed) {
    Rollback undo = new Rollback();
    undo.then(closed);
    undo.then(opened::run);
    regions.held().forEach(address -> undo.then(() -> thread.inContext(() -> regions.free(address))));
    undo.then(copies::closeKept);
    undo.then(() -> thread.inContext(engine::close));
    undo.run();
  }

  @Override
  public String toString() {
    return "device " + name;
  }
}
