package io.penstock.system;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// Copies within memory by the C library, however large, without keeping the collector waiting for the copying thread.
public final class NativeCopy {
  private static final MethodHandle MOVE = CLibrary.bind("memmove", JAVA_LONG, ADDRESS, ADDRESS, JAVA_LONG);

  private NativeCopy() {}

  /// Copies all of `from` to the beginning of `to`; the two may overlap.
  ///
  /// @throws IndexOutOfBoundsException if `to` is shorter
  public static void move(MemorySegment from, MemorySegment to) {
    long bytes = from.byteSize();
    if (bytes > to.byteSize()) {
      throw new IndexOutOfBoundsException("bytes must be <= " + to.byteSize() + " (was " + bytes + ")");
    }
    if (CLibrary.call(state -> (long) MOVE.invokeExact(state, to, from, bytes)) != to.address()) {
      MemorySegment.copy(from, 0, to, 0, bytes); // a system without native calls
    }
  }
}
