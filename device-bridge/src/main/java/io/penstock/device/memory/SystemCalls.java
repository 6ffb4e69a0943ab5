package io.penstock.device.memory;

import java.lang.foreign.MemorySegment;

/// The calls of Linux for memory. What answers a `long` answers less than 0 when the system refuses: the negated error
/// number.
interface SystemCalls {
  /// Private, zeroed memory; its address.
  ///
  /// @param flags more than private and anonymous
  long map(long bytes, int flags);

  long unmap(long address, long bytes);

  long advise(long address, long bytes, int advice);

  /// Keeps it in memory.
  long lock(long address, long bytes);

  /// Prefers the memory of a NUMA node for pages that are not there yet.
  ///
  /// @param nodes one bit for each, the lowest first; at least 1,024 of them
  long bind(long address, long bytes, MemorySegment nodes);

  /// Bytes of the smallest page.
  long pageBytes();
}
