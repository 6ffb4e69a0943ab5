package io.penstock.device.ascend;

import io.penstock.device.DeviceMemory;
import io.penstock.device.DeviceRegions;
import io.penstock.device.DeviceRegions.Region;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// The memory that one device has, its own and that of other processes, and how each piece of it goes back. For the device's thread, in its
/// context.
final class AscendRegions {
  private final MemoryPlace ours;
  private final String device;
  private final AclMemory memory;
  private final AclPhysical physical;
  private final AclIpc ipc;
  private final DeviceRegions<MemoryPlace> regions;
  private final MemoryPlaces places;
  private final AtomicLong allocated = new AtomicLong();
  /// How each goes back, by address, the oldest first.
  private final SequencedMap<Long, Unwinding> held = new LinkedHashMap<>();
  /// Keys that were exported, by address; keys that were imported, by themselves.
  private final Map<Long, IpcKey> exported = new HashMap<>();
  private final Map<IpcKey, Long> imported = new HashMap<>();

  AscendRegions(int logicalId, String device, AclLibrary library) {
    this.ours = new MemoryPlace(logicalId);
    this.device = device;
    this.memory = new AclMemory(library);
    this.physical = new AclPhysical(library);
    this.ipc = new AclIpc(library);
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
    long address = memory.allocate(bytes);
    Unwinding undo = new Unwinding();
    undo.then(() -> memory.free(address));
    allocated.addAndGet(bytes);
    undo.then(() -> allocated.addAndGet(-bytes));
    return hold(address, bytes, ours, undo);
  }

  /// A key for memory of [#allocate], the same for as long as it lives.
  IpcKey export(DeviceMemory allocation) {
    long address = allocation.address();
    Unwinding undo = held.get(address);
    Region<MemoryPlace> region = regions.find(address, allocation.bytes());
    if (undo == null || region == null || region.address() != address || region.bytes() != allocation.bytes()) {
      throw new IllegalArgumentException("memory must be an allocation of device %s (was %s)".formatted(device, allocation));
    }
    return exported.computeIfAbsent(address, begin -> {
      IpcKey key = ipc.export(begin, allocation.bytes());
      undo.then(() -> {
        exported.remove(begin);
        ipc.close(key);
      });
      return key;
    });
  }

  long open(IpcKey key, long bytes) {
    if (imported.containsKey(key)) {
      throw new AlreadyImportedException(device);
    }
    long address = ipc.open(key);
    imported.put(key, address);
    Unwinding undo = new Unwinding();
    undo.then(() -> {
      imported.remove(key);
      ipc.close(key);
    });
    return hold(address, bytes, ours, undo);
  }

  long open(FabricHandle name, long bytes) {
    Unwinding undo = new Unwinding();
    try {
      long address = physical.map(physical.open(name), bytes, ours.device(), undo);
      return hold(address, bytes, memory.locate(address), undo);
    } catch (RuntimeException e) {
      throw undo.run(e);
    }
  }

  private long hold(long address, long bytes, MemoryPlace place, Unwinding undo) {
    if (place.isHost()) {
      places.know(address, bytes);
      undo.then(() -> places.forget(address));
    } else {
      regions.add(address, bytes, place);
      undo.then(() -> regions.remove(address));
    }
    held.put(address, undo);
    return address;
  }

  /// Gives back what begins at `address`; nothing if it went before.
  void free(long address) {
    @Nullable Unwinding undo = held.remove(address);
    if (undo != null) {
      undo.run();
    }
  }

  /// The addresses that [#free] has something to give back for, the oldest first.
  List<Long> held() {
    return List.copyOf(held.sequencedKeySet());
  }
}
