package io.penstock.device.sidecar;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// The copy of the C library. A thread that is in it keeps no other from stopping for the collector, however long it takes.
@SuppressWarnings("restricted") // what calls native code is restricted, and this module is the place for it
final class Libc {
  private static final MethodHandle MOVE = Linker.nativeLinker().downcallHandle(
      Linker.nativeLinker().defaultLookup().findOrThrow("memmove"), FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS, JAVA_LONG));

  private Libc() {}

  /// Copies all of `from`; the two may overlap.
  static void move(MemorySegment from, MemorySegment to) {
    if (from.byteSize() > to.byteSize()) {
      throw new IndexOutOfBoundsException("bytes must be <= " + to.byteSize() + " (was " + from.byteSize() + ")");
    }
    try {
      MemorySegment moved = (MemorySegment) MOVE.invokeExact(to, from, from.byteSize());
      assert moved.address() == to.address();
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  static RuntimeException unexpected(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
    return e instanceof RuntimeException known ? known : new IllegalStateException(e);
  }
}
