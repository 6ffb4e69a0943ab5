package io.penstock.device.ascend;

import io.penstock.device.ascend.acl.AclMemory;
import io.penstock.device.ascend.acl.AclPhysical;
import io.penstock.device.ascend.acl.Rollback;
import io.penstock.device.ascend.failure.AclCode;
import io.penstock.device.ascend.failure.AscendFailure;
import io.penstock.device.memory.Fallback;
import io.penstock.device.memory.HostMemoryRefusedException;
import io.penstock.device.memory.MemoryKind;
import io.penstock.device.memory.PageKind;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/// Host memory of the driver: pages of 1 GiB on the node of the device, pages of 1 GiB anywhere, pages of 2 MiB, then
/// pages that the driver chooses. For the device's thread, in its context.
final class DriverPages {
  private static final List<PageKind> KINDS =
      List.of(PageKind.NODE_1G, PageKind.HOST_1G, PageKind.HOST_2M, PageKind.HOST);
  /// Kinds of pages with a handle.
  private static final List<PageKind> SHARED = KINDS.subList(0, 3);
  private static final int DEVICES_A_NODE = 4;

  private final AclMemory memory;
  private final AclPhysical physical;
  private final String name;
  private final int device;
  private final int node;
  private final boolean shared;

  /// Allocated memory.
  ///
  /// @param handle of its pages; null for memory without one
  /// @param undo frees it
  record Piece(long address, MemoryKind kind, List<Fallback> fallbacks, @Nullable MemorySegment handle,
      Rollback undo) {}

  /// @param physicalDevice number that the machine has for it
  /// @param shared whether other processes are to map it by a handle
  DriverPages(AclMemory memory, AclPhysical physical, String name, int device, int physicalDevice, boolean shared) {
    this.memory = memory;
    this.physical = physical;
    this.name = name;
    this.device = device;
    this.node = node(physicalDevice);
    this.shared = shared;
  }

  /// NUMA node whose memory serves a device. Four devices share a node, and only nodes of even number have such memory.
  static int node(int physicalDevice) {
    return physicalDevice / DEVICES_A_NODE * 2;
  }

  /// @throws HostMemoryRefusedException if no kind of pages is available
  /// @throws RuntimeException that is an [AscendFailure] other than missing memory
  Piece take(long bytes) {
    List<Fallback> tried = new ArrayList<>();
    for (PageKind kind : shared ? SHARED : KINDS) {
      if (kind.isWasteful(bytes)) {
        tried.add(new Fallback(kind.label(), Fallback.WASTEFUL));
        continue;
      }
      Rollback undo = new Rollback();
      try {
        return take(kind, kind.rounded(bytes), tried, undo);
      } catch (RuntimeException e) {
        RuntimeException refusal = undo.run(e);
        if (!(e instanceof AscendFailure failure) || !AclCode.isOfTheRequest(failure.error().code())) {
          // No other kind of pages helps
          throw refusal;
        }
        requireUndone(refusal);
        tried.add(new Fallback(kind.label(), failure.error().sentence()));
      }
    }
    throw new HostMemoryRefusedException(name, bytes, tried);
  }

  private Piece take(PageKind kind, long bytes, List<Fallback> tried, Rollback undo) {
    if (kind == PageKind.HOST) {
      long address = memory.allocateHost(bytes);
      undo.then(() -> memory.freeHost(address));
      return new Piece(address, kindOf(kind), tried, null, undo);
    }
    MemorySegment handle = physical.allocate(kind(kind), bytes);
    return new Piece(physical.map(handle, bytes, device, undo), kindOf(kind), tried, handle, undo);
  }

  /// Drivers lock memory that a device reaches.
  private MemoryKind kindOf(PageKind kind) {
    return new MemoryKind(kind, kind == PageKind.NODE_1G ? OptionalInt.of(node) : OptionalInt.empty(), true);
  }

  private AclPhysical.Kind kind(PageKind kind) {
    return switch (kind) {
      case NODE_1G -> AclPhysical.Kind.node1g(node);
      case HOST_1G -> AclPhysical.Kind.host1g();
      default -> AclPhysical.Kind.host2m();
    };
  }

  /// After a step that could not be undone, the state of the driver is unknown, so no further attempt is made.
  private static void requireUndone(RuntimeException refusal) {
    if (refusal.getSuppressed().length > 0) {
      throw refusal;
    }
  }
}
