package io.penstock.device.ascend;

import io.penstock.block.Owned;
import io.penstock.device.DeviceMemory;
import io.penstock.device.DeviceRegions;
import io.penstock.device.SharedName.FabricHandle;
import io.penstock.device.SharedName.IpcKey;
import io.penstock.device.ascend.acl.AclIpc;
import io.penstock.device.ascend.acl.AclLibrary;
import io.penstock.device.ascend.acl.AclMemory;
import io.penstock.device.ascend.acl.AclPhysical;
import io.penstock.device.ascend.acl.MemoryPlace;
import io.penstock.device.ascend.acl.Rollback;
import io.penstock.device.ascend.failure.AlreadyImportedException;
import io.penstock.device.memory.HostMemory;
import io.penstock.device.memory.MemoryListener;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/// The memory of one device: its own, the host memory that it took, and memory of other processes; and the way to give
/// each piece back. For the device's thread, in its context.
final class AscendRegions {
  /// Memory with a handle has a multiple of this size.
  private static final long SHARED_BYTES = 2L << 20;

  private final MemoryPlace ours;
  private final boolean shared;
  private final String device;
  private final AclMemory memory;
  private final AclPhysical physical;
  private final AclIpc ipc;
  private final DriverPages ladder;
  private final DeviceRegions<MemoryPlace> regions;
  private final MemoryPlaces places;
  private final AtomicLong allocated = new AtomicLong();
  /// Memory by address, the oldest first.
  private final SequencedMap<Long, Held> held = new LinkedHashMap<>();
  /// Keys that were exported, by address; keys that were imported, by themselves.
  private final Map<Long, IpcKey> exported = new HashMap<>();
  private final Map<IpcKey, Long> imported = new HashMap<>();

  /// @param handle on physical memory, if it has one
  /// @param undo gives it back
  private record Held(long bytes, boolean isAllocation, @Nullable MemorySegment handle, Rollback undo) {}

  /// @param shared whether memory is allocated so that it has a handle
  AscendRegions(int logicalId, int physicalId, String device, AclLibrary library, boolean shared) {
    this.ours = new MemoryPlace(logicalId);
    this.shared = shared;
    this.device = device;
    this.memory = new AclMemory(library);
    this.physical = new AclPhysical(library);
    this.ipc = new AclIpc(library);
    this.ladder = new DriverPages(memory, physical, device, logicalId, physicalId, shared);
    this.regions = new DeviceRegions<>(device, address -> null);
    this.places = new MemoryPlaces(device, memory, regions);
  }

  MemoryPlaces places() {
    return places;
  }

  DeviceRegions<MemoryPlace> regions() {
    return regions;
  }

  /// Bytes of the device's own memory. Safe from any thread.
  long allocatedBytes() {
    return allocated.get();
  }

  long allocate(long bytes) {
    Rollback undo = new Rollback();
    MemorySegment handle = null;
    long address;
    if (shared) {
      long size = Math.ceilDiv(bytes, SHARED_BYTES) * SHARED_BYTES;
      handle = physical.allocate(AclPhysical.Kind.device(ours.device()), size);
      address = mapped(handle, size, undo);
    } else {
      address = memory.allocate(bytes);
      undo.then(() -> memory.free(address));
    }
    allocated.addAndGet(bytes);
    undo.then(() -> allocated.addAndGet(-bytes));
    return hold(address, ours, new Held(bytes, true, handle, undo));
  }

  private long mapped(MemorySegment handle, long bytes, Rollback undo) {
    try {
      return physical.map(handle, bytes, ours.device(), undo);
    } catch (RuntimeException e) {
      throw undo.run(e);
    }
  }

  /// @param release has [#free] called, with the address
  HostMemory allocateHost(long bytes, MemoryListener listener, LongConsumer release) {
    DriverPages.Piece piece = ladder.take(bytes);
    long address = piece.address();
    long taken = piece.kind().pages().rounded(bytes);
    HostMemory made = HostMemory.at(address, bytes, piece.kind(), piece.fallbacks(), () -> release.accept(address));
    listener.taken(piece.kind(), taken);
    Rollback all = new Rollback();
    all.then(() -> {
      made.endAccess(); // or it stays mapped
      listener.givenBack(piece.kind(), taken);
      piece.undo().run();
    });
    hold(address, MemoryPlace.HOST, new Held(bytes, false, piece.handle(), all));
    return made;
  }

  /// A key for memory of [#allocate]; repeated calls give equal keys while it is allocated.
  IpcKey export(DeviceMemory allocation) {
    Held known = held.get(allocation.address());
    if (known == null || !known.isAllocation() || known.bytes() != allocation.bytes() || allocation.isClosed()) {
      throw new IllegalArgumentException(
          "memory must be an allocation of device %s (was %s)".formatted(device, allocation));
    }
    return exported.computeIfAbsent(allocation.address(), address -> {
      IpcKey key = ipc.export(address, known.bytes());
      known.undo().then(() -> {
        exported.remove(address);
        ipc.close(key);
      });
      return key;
    });
  }

  /// A handle for memory that has one: of [#allocateHost], or of [#allocate] where that is shared.
  FabricHandle exportToFabric(long address, Owned allocation) {
    Held known = held.get(address);
    if (known == null || known.handle() == null || allocation.isClosed()) {
      throw new IllegalArgumentException(
          "memory must be large pages of device %s, or of the host through it (was %s)".formatted(device, allocation));
    }
    return physical.export(known.handle());
  }

  long open(IpcKey key, long bytes) {
    if (imported.containsKey(key)) {
      throw new AlreadyImportedException(device);
    }
    long address = ipc.open(key);
    imported.put(key, address);
    Rollback undo = new Rollback();
    undo.then(() -> {
      imported.remove(key);
      ipc.close(key);
    });
    return hold(address, ours.imported(), new Held(bytes, false, null, undo));
  }

  long open(FabricHandle name, long bytes) {
    Rollback undo = new Rollback();
    MemorySegment handle = physical.open(name);
    long address = mapped(handle, bytes, undo);
    try {
      return hold(address, memory.locate(address).imported(), new Held(bytes, false, handle, undo));
    } catch (RuntimeException e) {
      throw undo.run(e);
    }
  }

  private long hold(long address, MemoryPlace place, Held one) {
    if (place.isHost()) {
      places.know(address, one.bytes(), place);
      one.undo().then(() -> places.forget(address));
    } else {
      regions.add(address, one.bytes(), place);
      one.undo().then(() -> regions.remove(address));
    }
    held.put(address, one);
    return address;
  }

  /// Gives back the memory that begins at `address`; does nothing if it was given back before.
  void free(long address) {
    Held gone = held.remove(address);
    if (gone != null) {
      gone.undo().run();
    }
  }

  /// The addresses that [#free] has something to give back for, the oldest first.
  List<Long> held() {
    return List.copyOf(held.sequencedKeySet());
  }
}
