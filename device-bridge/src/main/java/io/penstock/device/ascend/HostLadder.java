package io.penstock.device.ascend;

import io.penstock.device.memory.Fallback;
import io.penstock.device.memory.HostMemoryRefusedException;
import io.penstock.device.memory.MemoryKind;
import io.penstock.device.memory.MemoryRung;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/// Host memory of the driver: pages of 1 GiB on the node of the device, the same anywhere, pages of 2 MiB, whatever the
/// driver likes. For the device's thread, in its context.
final class HostLadder {
  private static final List<MemoryRung> RUNGS =
      List.of(MemoryRung.NODE_1G, MemoryRung.HOST_1G, MemoryRung.HOST_2M, MemoryRung.HOST);
  /// Those whose memory has a handle.
  private static final List<MemoryRung> SHARED = RUNGS.subList(0, 3);
  private static final int DEVICES_A_NODE = 4;

  private final AclMemory memory;
  private final AclPhysical physical;
  private final String name;
  private final int device;
  private final int node;
  private final boolean shared;

  /// What a rung gave.
  ///
  /// @param handle on its pages; null where the driver gives memory without
  /// @param undo gives it back
  record Piece(long address, MemoryKind kind, List<Fallback> fallbacks, @Nullable MemorySegment handle,
      Unwinding undo) {}

  /// @param physicalDevice number that the machine has for it
  /// @param shared whether other processes are to map it by a handle
  HostLadder(AclMemory memory, AclPhysical physical, String name, int device, int physicalDevice, boolean shared) {
    this.memory = memory;
    this.physical = physical;
    this.name = name;
    this.device = device;
    this.node = node(physicalDevice);
    this.shared = shared;
  }

  /// NUMA node of a device: four devices share one, and only even ones have memory for them.
  static int node(int physicalDevice) {
    return physicalDevice / DEVICES_A_NODE * 2;
  }

  /// @throws HostMemoryRefusedException if no rung gives it
  /// @throws RuntimeException that is an [AscendFailure], of another kind than that there is no such memory
  Piece take(long bytes) {
    List<Fallback> tried = new ArrayList<>();
    for (MemoryRung rung : shared ? SHARED : RUNGS) {
      if (rung.isWasteful(bytes)) {
        tried.add(new Fallback(rung.label(), Fallback.WASTEFUL));
        continue;
      }
      Unwinding undo = new Unwinding();
      try {
        return take(rung, rung.rounded(bytes), tried, undo);
      } catch (AscendMemoryException | AscendUnsupportedException | AscendArgumentException e) {
        requireUndone(undo.run(e));
        tried.add(new Fallback(rung.label(), e.error().sentence()));
      } catch (RuntimeException e) { // of the device, and no other rung helps
        throw undo.run(e);
      }
    }
    throw new HostMemoryRefusedException(name, bytes, tried);
  }

  private Piece take(MemoryRung rung, long bytes, List<Fallback> tried, Unwinding undo) {
    if (rung == MemoryRung.HOST) {
      long address = memory.allocateHost(bytes);
      undo.then(() -> memory.freeHost(address));
      return new Piece(address, kindOf(rung), tried, null, undo);
    }
    MemorySegment handle = physical.allocate(kind(rung), bytes);
    return new Piece(physical.map(handle, bytes, device, undo), kindOf(rung), tried, handle, undo);
  }

  /// No driver lets memory be swapped that a device reaches.
  private MemoryKind kindOf(MemoryRung rung) {
    return new MemoryKind(rung, rung == MemoryRung.NODE_1G ? OptionalInt.of(node) : OptionalInt.empty(), true);
  }

  private AclPhysical.Kind kind(MemoryRung rung) {
    return switch (rung) {
      case NODE_1G -> AclPhysical.Kind.node1g(node);
      case HOST_1G -> AclPhysical.Kind.host1g();
      default -> AclPhysical.Kind.host2m();
    };
  }

  /// Where something could not be undone nobody knows what the next rung would meet.
  private static void requireUndone(RuntimeException refusal) {
    if (refusal.getSuppressed().length > 0) {
      throw refusal;
    }
  }
}
