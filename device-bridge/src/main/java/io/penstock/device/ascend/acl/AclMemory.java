package io.penstock.device.ascend.acl;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// Memory of a device, and the places of addresses. All calls except [#locate] need a context on the thread.
public final class AclMemory {
  private static final int HUGE_PAGES_FIRST = 0;
  private static final long ID = AclLayouts.offset(AclLayouts.LOCATION, "id");
  private static final long TYPE = AclLayouts.offset(AclLayouts.LOCATION, "type");
  private static final long LOCATION = AclLayouts.offset(AclLayouts.POINTER_ATTRIBUTES, "location");

  private final AclLibrary library;
  private final MethodHandle malloc;
  private final MethodHandle free;
  private final MethodHandle mallocHost;
  private final MethodHandle freeHost;
  private final MethodHandle attributes;

  public AclMemory(AclLibrary library) {
    this.library = library;
    this.malloc = library.handle(AclFunction.MALLOC);
    this.free = library.handle(AclFunction.FREE);
    this.mallocHost = library.handle(AclFunction.MALLOC_HOST);
    this.freeHost = library.handle(AclFunction.FREE_HOST);
    this.attributes = library.handle(AclFunction.POINTER_ATTRIBUTES);
  }

  public long allocate(long bytes) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment pointer = arena.allocate(ADDRESS);
      library.check(AclFunction.MALLOC, (int) malloc.invokeExact(pointer, bytes, HUGE_PAGES_FIRST));
      return pointer.get(JAVA_LONG, 0);
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }

  public void free(long address) {
    try {
      library.check(AclFunction.FREE, (int) free.invokeExact(MemorySegment.ofAddress(address)));
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }

  /// Host memory that the device reaches without a copy in between.
  public long allocateHost(long bytes) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment pointer = arena.allocate(ADDRESS);
      library.check(AclFunction.MALLOC_HOST, (int) mallocHost.invokeExact(pointer, bytes));
      return pointer.get(JAVA_LONG, 0);
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }

  public void freeHost(long address) {
    try {
      library.check(AclFunction.FREE_HOST, (int) freeHost.invokeExact(MemorySegment.ofAddress(address)));
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }

  /// Returns where `address` is. Memory that the library does not know is the host's.
  public MemoryPlace locate(long address) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment answer = arena.allocate(AclLayouts.POINTER_ATTRIBUTES);
      library.check(AclFunction.POINTER_ATTRIBUTES,
          (int) attributes.invokeExact(MemorySegment.ofAddress(address), answer));
      return MemoryPlace.of(answer.get(JAVA_INT, LOCATION + TYPE), answer.get(JAVA_INT, LOCATION + ID));
    } catch (Throwable e) {
      throw AclLibrary.unexpected(e);
    }
  }
}
