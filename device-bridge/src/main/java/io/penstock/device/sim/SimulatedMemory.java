package io.penstock.device.sim;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.device.CopyBatch;
import io.penstock.device.CopyDirection;
import io.penstock.device.DeviceFailure.DeviceAddressException;
import io.penstock.device.DeviceRegions;
import io.penstock.device.DeviceRegions.Region;
import io.penstock.device.SharedName.IpcKey;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// Host memory under addresses of its own. The upper 16 bits name the device and make an address one that no process
/// can have, so that it faults as a pointer; numbers are never used twice, so memory that was freed stays unknown. For
/// one thread at a time.
final class SimulatedMemory {
  private static final long FIRST_PREFIX = 0x4000;
  private static final int PREFIX_SHIFT = 48;
  private static final long ALIGNMENT = 512;
  /// Gap between allocations, so that a copy past the end of one does not reach the next.
  private static final long GAP = 1 << 16;

  private final String device;
  private final long prefix;
  private final DeviceRegions<Backing> regions;
  private long next = GAP;

  private record Backing(MemorySegment memory, Arena arena) {}

  SimulatedMemory(int ordinal, String device) {
    this.device = device;
    this.prefix = (FIRST_PREFIX + ordinal) << PREFIX_SHIFT;
    this.regions = new DeviceRegions<>(device, this::strange);
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
    regions.add(address, bytes, new Backing(memory, arena));
    return address;
  }

  /// A key for the allocation that begins at `address`.
  IpcKey export(long address, long bytes) {
    requireAllocation(address, bytes);
    return IpcKey.of(ByteBuffer.allocate(IpcKey.BYTES).putLong(address).array());
  }

  /// @return the address of the allocation that `key` was made for
  long open(IpcKey key, long bytes) {
    long address = ByteBuffer.wrap(key.bytes()).getLong();
    requireAllocation(address, bytes);
    return address;
  }

  private void requireAllocation(long address, long bytes) {
    Region<Backing> found = regions.find(address, bytes);
    if (found == null || found.address() != address || found.bytes() != bytes) {
      throw new DeviceAddressException(device, 0, address, bytes, "no allocation of it");
    }
  }

  /// @return bytes freed; 0 if there is nothing at `address`
  long free(long address) {
    Region<Backing> freed = regions.remove(address);
    if (freed == null) {
      return 0;
    }
    freed.memory().arena().close();
    return freed.bytes();
  }

  /// Address of the youngest allocation, or 0.
  long last() {
    Region<Backing> last = regions.last();
    return last == null ? 0 : last.address();
  }

  /// @throws io.penstock.device.DeviceFailure.DeviceAddressException at the first element that is not inside an
  ///     allocation
  void require(CopyBatch batch) {
    regions.require(batch);
  }

  /// Copies one element of a batch that was found in order before.
  void copy(CopyBatch batch, int element) {
    MemorySegment host = batch.host(element);
    MemorySegment there = there(batch.device(element), host.byteSize());
    if (batch.direction() == CopyDirection.TO_DEVICE) {
      MemorySegment.copy(host, 0, there, 0, host.byteSize());
    } else {
      MemorySegment.copy(there, 0, host, 0, host.byteSize());
    }
  }

  /// Flips a bit where an element arrived.
  void corrupt(CopyBatch batch, int element, long offset) {
    MemorySegment arrived = batch.host(element);
    if (batch.direction() == CopyDirection.TO_DEVICE) {
      arrived = there(batch.device(element), arrived.byteSize());
    }
    arrived.set(JAVA_BYTE, offset, (byte) (arrived.get(JAVA_BYTE, offset) ^ 1));
  }

  private MemorySegment there(long address, long bytes) {
    Region<Backing> found = regions.find(address, bytes);
    if (found == null) {
      throw new IllegalStateException("address %#x was used before it was checked".formatted(address));
    }
    return found.memory().memory().asSlice(address - found.address(), bytes);
  }

  private @Nullable String strange(long address) {
    if (address >>> PREFIX_SHIFT == prefix >>> PREFIX_SHIFT) {
      return null;
    }
    long ordinal = (address >>> PREFIX_SHIFT) - FIRST_PREFIX;
    return ordinal >= 0 && ordinal < SimulatedDeviceOptions.MAX_DEVICES
        ? "of device " + ordinal
        : "no address of a device";
  }
}
