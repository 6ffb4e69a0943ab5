package io.penstock.device.ascend.acl;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.penstock.device.SharedName.FabricHandle;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// Memory and addresses apart: pages of a kind, a range of addresses, and the pages mapped there. All of it needs a
/// context on the thread.
public final class AclPhysical {
  /// Pages of one kind, as an `aclrtPhysicalMemProp` names it.
  ///
  /// @param type of the location: the host, one of its NUMA nodes, or a device
  /// @param id of the node or device
  /// @param pages kind of pages that devices reach
  public record Kind(int type, int id, int pages) {
    private static final int HOST = 0;
    private static final int HOST_NUMA = 4;
    private static final int DEVICE_PAGES_2M = 4;
    private static final int PAGES_2M = 16;
    private static final int PAGES_1G = 17;

    /// Memory of a device's own, in large pages.
    public static Kind device(int device) {
      return new Kind(DEVICE_TYPE, device, DEVICE_PAGES_2M);
    }

    public static Kind node1g(int node) {
      return new Kind(HOST_NUMA, node, PAGES_1G);
    }

    public static Kind host1g() {
      return new Kind(HOST, 0, PAGES_1G);
    }

    public static Kind host2m() {
      return new Kind(HOST, 0, PAGES_2M);
    }
  }

  private static final int HUGE_PAGES = 1;
  private static final int FABRIC = 2;
  /// Any process with the handle may use it: its users are not known beforehand.
  private static final long WITHOUT_LIST_OF_PROCESSES = 1;
  private static final int READ_AND_WRITE = 3;
  private static final int DEVICE_TYPE = 1;

  private final AclLibrary library;
  private final MethodHandle malloc;
  private final MethodHandle free;
  private final MethodHandle reserve;
  private final MethodHandle release;
  private final MethodHandle map;
  private final MethodHandle unmap;
  private final MethodHandle export;
  private final MethodHandle open;
  private final MethodHandle setAccess;

  public AclPhysical(AclLibrary library) {
    this.library = library;
    this.malloc = library.handle(AclFunction.MALLOC_PHYSICAL);
    this.free = library.handle(AclFunction.FREE_PHYSICAL);
    this.reserve = library.handle(AclFunction.RESERVE_ADDRESS);
    this.release = library.handle(AclFunction.RELEASE_ADDRESS);
    this.map = library.handle(AclFunction.MAP);
    this.unmap = library.handle(AclFunction.UNMAP);
    this.export = library.handle(AclFunction.EXPORT_FABRIC);
    this.open = library.handle(AclFunction.IMPORT_FABRIC);
    this.setAccess = library.handle(AclFunction.SET_ACCESS);
  }

  /// A handle on `bytes` of pages that are nowhere yet.
  public MemorySegment allocate(Kind kind, long bytes) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment properties = arena.allocate(AclLayouts.PHYSICAL_PROPERTIES);
      properties.set(JAVA_INT, AclLayouts.offset(AclLayouts.PHYSICAL_PROPERTIES, "memAttr"), kind.pages());
      place(properties, AclLayouts.offset(AclLayouts.PHYSICAL_PROPERTIES, "location"), kind.type(), kind.id());
      MemorySegment handle = arena.allocate(ADDRESS);
      library.check(AclFunction.MALLOC_PHYSICAL, (int) malloc.invokeExact(handle, bytes, properties, 0L));
      return handle.get(ADDRESS, 0);
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }

  private static void place(MemorySegment struct, long location, int type, int id) {
    struct.set(JAVA_INT, location + AclLayouts.offset(AclLayouts.LOCATION, "type"), type);
    struct.set(JAVA_INT, location + AclLayouts.offset(AclLayouts.LOCATION, "id"), id);
  }

  void free(MemorySegment handle) {
    try {
      library.check(AclFunction.FREE_PHYSICAL, (int) free.invokeExact(handle));
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }

  /// Maps the pages of `handle` at addresses of their own, for the CPUs and for `device`; from the first step on they
  /// go back with `undo`, also if this throws.
  ///
  /// @return where they begin
  public long map(MemorySegment handle, long bytes, int device, Rollback undo) {
    undo.then(() -> free(handle));
    long address = reserve(bytes);
    undo.then(() -> release(address));
    map(address, bytes, handle);
    undo.then(() -> unmap(address));
    if (library.has(AclFunction.SET_ACCESS)) {
      grant(address, bytes, device);
    }
    return address;
  }

  private long reserve(long bytes) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment range = arena.allocate(ADDRESS);
      library.check(AclFunction.RESERVE_ADDRESS,
          (int) reserve.invokeExact(range, bytes, 0L, MemorySegment.NULL, (long) HUGE_PAGES));
      return range.get(JAVA_LONG, 0);
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }

  private void release(long address) {
    try {
      library.check(AclFunction.RELEASE_ADDRESS, (int) release.invokeExact(MemorySegment.ofAddress(address)));
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }

  private void map(long address, long bytes, MemorySegment handle) {
    try {
      library.check(AclFunction.MAP, (int) map.invokeExact(MemorySegment.ofAddress(address), bytes, 0L, handle, 0L));
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }

  private void unmap(long address) {
    try {
      library.check(AclFunction.UNMAP, (int) unmap.invokeExact(MemorySegment.ofAddress(address)));
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }

  private void grant(long address, long bytes, int device) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment access = arena.allocate(AclLayouts.ACCESS);
      access.set(JAVA_INT, AclLayouts.offset(AclLayouts.ACCESS, "flags"), READ_AND_WRITE);
      place(access, AclLayouts.offset(AclLayouts.ACCESS, "location"), DEVICE_TYPE, device);
      library.check(AclFunction.SET_ACCESS,
          (int) setAccess.invokeExact(MemorySegment.ofAddress(address), bytes, access, 1L));
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }

  public FabricHandle export(MemorySegment handle) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment name = arena.allocate(AclLayouts.FABRIC_HANDLE);
      library.check(AclFunction.EXPORT_FABRIC,
          (int) export.invokeExact(handle, WITHOUT_LIST_OF_PROCESSES, FABRIC, name));
      return FabricHandle.of(name.toArray(JAVA_BYTE));
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }

  /// A handle on pages that another process exported.
  public MemorySegment open(FabricHandle name) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment handle = arena.allocate(ADDRESS);
      library.check(AclFunction.IMPORT_FABRIC,
          (int) open.invokeExact(arena.allocateFrom(JAVA_BYTE, name.bytes()), FABRIC, 0L, handle));
      return handle.get(ADDRESS, 0);
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }
}
