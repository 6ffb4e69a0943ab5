package io.penstock.device.sim;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.device.CopyBatch;
import io.penstock.device.CopyDirection;
import io.penstock.device.DeviceAddressException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Host memory under addresses of its own. The upper 16 bits name the device and make an address one that no process can have, so that
/// it faults as a pointer; numbers are never used twice, so memory that was freed stays unknown. For one thread at a time.
final class SimulatedMemory {
  private static final long FIRST_PREFIX = 0x4000;
  private static final int PREFIX_SHIFT = 48;
  private static final long ALIGNMENT = 512;
  /// Between allocations, so that nobody runs from one into the next.
  private static final long GAP = 1 << 16;

  private final String device;
  private final long prefix;
  private final TreeMap<Long, Allocation> allocations = new TreeMap<>();
  private long next = GAP;
  /// The allocation that was hit last: elements of a batch mostly lie together.
  private @Nullable Allocation recent;

  private record Allocation(long address, MemorySegment memory, Arena arena) {
    boolean contains(long first, long bytes) {
      return first >= address && first - address <= memory.byteSize() - bytes;
    }
  }

  SimulatedMemory(int ordinal, String device) {
    this.device = device;
    this.prefix = (FIRST_PREFIX + ordinal) << PREFIX_SHIFT;
  }

  /// @return the address
  /// @throws OutOfMemoryError if the host has no more
  long allocate(long bytes) {
    Arena arena = Arena.ofShared();
    MemorySegment memory;
    try {
      memory = arena.allocate(bytes, ALIGNMENT);
    } catch (Throwable e) {
      arena.close();
      throw e;
    }
    long address = prefix + next;
    next += Math.ceilDiv(bytes, GAP) * GAP + GAP;
    allocations.put(address, new Allocation(address, memory, arena));
    return address;
  }

  /// @return bytes freed; 0 if there is nothing at `address`
  long free(long address) {
    Allocation freed = allocations.remove(address);
    recent = null;
    if (freed == null) {
      return 0;
    }
    freed.arena().close();
    return freed.memory().byteSize();
  }

  /// Address of the youngest allocation, or 0.
  long last() {
    return allocations.isEmpty() ? 0 : allocations.lastKey();
  }

  /// @throws DeviceAddressException at the first element that is not inside an allocation
  void require(CopyBatch batch) {
    for (int i = 0; i < batch.elements(); i++) {
      if (find(batch.device(i), batch.host(i).byteSize()) == null) {
        throw new DeviceAddressException(device, i, batch.device(i), batch.host(i).byteSize(), what(batch.device(i)));
      }
    }
  }

  /// Copies one element of a batch that was found in order before.
  void copy(CopyBatch batch, int element) {
    MemorySegment host = batch.host(element);
    long bytes = host.byteSize();
    Allocation there = require(batch.device(element), bytes);
    long offset = batch.device(element) - there.address();
    if (batch.direction() == CopyDirection.TO_DEVICE) {
      MemorySegment.copy(host, 0, there.memory(), offset, bytes);
    } else {
      MemorySegment.copy(there.memory(), offset, host, 0, bytes);
    }
  }

  /// Flips a bit where an element arrived.
  void corrupt(CopyBatch batch, int element, long offset) {
    MemorySegment arrived = batch.host(element);
    if (batch.direction() == CopyDirection.TO_DEVICE) {
      Allocation there = require(batch.device(element), arrived.byteSize());
      arrived = there.memory().asSlice(batch.device(element) - there.address(), arrived.byteSize());
    }
    arrived.set(JAVA_BYTE, offset, (byte) (arrived.get(JAVA_BYTE, offset) ^ 1));
  }

  private Allocation require(long address, long bytes) {
    Allocation found = find(address, bytes);
    if (found == null) {
      throw new IllegalStateException("address %#x must be checked before it is used (was not)".formatted(address));
    }
    return found;
  }

  private @Nullable Allocation find(long address, long bytes) {
    Allocation likely = recent;
    if (likely != null && likely.contains(address, bytes)) {
      return likely;
    }
    Map.Entry<Long, Allocation> before = allocations.floorEntry(address);
    if (before == null || !before.getValue().contains(address, bytes)) {
      return null;
    }
    recent = before.getValue();
    return recent;
  }

  private String what(long address) {
    long ordinal = (address >>> PREFIX_SHIFT) - FIRST_PREFIX;
    if (address >>> PREFIX_SHIFT != prefix >>> PREFIX_SHIFT) {
      return ordinal >= 0 && ordinal < SimulatedDeviceOptions.MAX_DEVICES ? "of device " + ordinal : "no address of a device";
    }
    Map.Entry<Long, Allocation> before = allocations.floorEntry(address);
    if (before == null || address - before.getKey() >= before.getValue().memory().byteSize()) {
      return "not allocated";
    }
    return "only " + (before.getKey() + before.getValue().memory().byteSize() - address) + " bytes to the end of its allocation";
  }
}
