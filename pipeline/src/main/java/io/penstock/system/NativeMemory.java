package io.penstock.system;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/// The calls of the system for memory, by address. Safe from any thread.
///
/// Addresses and sizes are the caller's responsibility: a wrong one can end the process.
public interface NativeMemory {
  /// NUMA nodes that [#prefer] can name: 0 to 1,023.
  int MOST_NODES = 1024;
  /// Size of a large page of most processors. Where large pages are longer, memory at multiples of this size still has
  /// some.
  long LARGE_PAGE_BYTES = 2 << 20;
  /// Bytes of a cache line.
  int LINE_BYTES = 64;

  /// Advice to the system about pages of memory.
  enum Advice {
    /// Take the pages out of the mapping. Pages of a file lose nothing; the next touch maps them again.
    DONT_NEED(4),
    /// Use large pages where possible.
    LARGE_PAGES(14),
    /// Make all pages now, as a write would. Linux 5.14 or newer.
    POPULATE_WRITE(23),
    /// Make large pages of pages that are there, whatever the system is set to do by itself. Linux 6.1 or newer.
    COLLAPSE(25);

    private final int number;

    Advice(int number) {
      this.number = number;
    }

    int number() {
      return number;
    }
  }

  /// The calls of this system.
  static NativeMemory ofSystem() {
    return LinuxMemory.INSTANCE;
  }

  /// Why this process has no native calls: the system is not known, or the JVM does not allow them. Empty if it has
  /// them.
  static Optional<String> absence() {
    return CLibrary.absence();
  }

  /// Copies all of `from` to the beginning of `to` by the C library; the two may overlap. The garbage collector never
  /// waits for the copying thread.
  ///
  /// @throws IndexOutOfBoundsException if `to` is shorter
  static void move(MemorySegment from, MemorySegment to) {
    LinuxMemory.move(from, to);
  }

  /// Zeroed memory until `arena` closes, at a multiple of 64 bytes at least, in large pages where the system makes them
  /// on advice: reads and writes all over much memory then miss few translations of addresses. A page is made when it
  /// is first touched, and a process that has no memory for it ends then. What the JDK allocates where there are no
  /// native calls, or for less than a large page.
  ///
  /// @param arena of all threads
  /// @throws OutOfMemoryError if the system refuses it
  static MemorySegment allocate(long bytes, Arena arena) {
    return bytes < LARGE_PAGE_BYTES || absence().isPresent()
        ? arena.allocate(bytes, LINE_BYTES)
        : LinuxMemory.INSTANCE.inLargePages(bytes, arena);
  }

  /// Maps private, zeroed memory of plain pages at a multiple of `alignment`: maps more and gives back the two ends. An
  /// end that the system does not take back stays mapped, untouched.
  ///
  /// @param bytes a multiple of [#pageBytes()]
  /// @return its address
  default long mapAligned(long bytes, long alignment) throws SystemCallException {
    long address = map(bytes + alignment);
    long begin = Math.ceilDiv(address, alignment) * alignment;
    cut(address, begin);
    cut(begin + bytes, address + bytes + alignment);
    return begin;
  }

  private void cut(long from, long to) {
    try {
      if (from < to) {
        unmap(from, to - from);
      }
    } catch (SystemCallException e) {
      // addresses without pages cost nothing; the memory between the ends is as good as without them
    }
  }

  /// Maps private, zeroed memory of plain pages.
  ///
  /// @return its address
  long map(long bytes) throws SystemCallException;

  /// Maps private, zeroed memory of huge pages that were set aside.
  ///
  /// @param pageBytes a power of two
  /// @return its address
  long mapHuge(long bytes, long pageBytes) throws SystemCallException;

  void unmap(long address, long bytes) throws SystemCallException;

  void advise(long address, long bytes, Advice advice) throws SystemCallException;

  /// Keeps the pages in memory: they are never swapped out.
  void lock(long address, long bytes) throws SystemCallException;

  /// Prefers the memory of a NUMA node for pages that are not present yet.
  void prefer(long address, long bytes, int node) throws SystemCallException;

  /// Bytes of the smallest page: 4 KiB, but 16 or 64 KiB on some machines.
  long pageBytes();
}
