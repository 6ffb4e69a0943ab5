package io.penstock.system;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// Memory of Linux.
@SuppressWarnings("restricted") // this package is the place for native memory
final class LinuxMemory implements NativeMemory {
  static final LinuxMemory INSTANCE = new LinuxMemory();

  private static final int READ = 0x1;
  private static final int READ_AND_WRITE = 0x3;
  private static final int SHARED = 0x1;
  private static final int PRIVATE_ANONYMOUS = 0x22;
  private static final int AT_ADDRESS = 0x10;
  private static final int NO_ACCESS = 0;
  private static final int NO_RESERVE = 0x4000;
  private static final int HUGE_PAGES = 0x40000;
  private static final int PAGE_SHIFT_AT = 26;
  private static final int NO_FILE = -1;
  private static final int PREFERRED = 1;
  private static final long USUAL_PAGE_BYTES = 4096;
  /// The C library has no function for `mbind`.
  private static final long MBIND_NUMBER = System.getProperty("os.arch", "").equals("aarch64") ? 235 : 237;

  private static final MethodHandle MAP =
      CLibrary.bind("mmap", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
  private static final MethodHandle UNMAP = CLibrary.bind("munmap", JAVA_INT, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle ADVISE = CLibrary.bind("madvise", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
  private static final MethodHandle LOCK = CLibrary.bind("mlock", JAVA_INT, JAVA_LONG, JAVA_LONG);

  private LinuxMemory() {}

  private static final class Copying {
    static final MethodHandle MOVE = CLibrary.bind("memmove", JAVA_LONG, ADDRESS, ADDRESS, JAVA_LONG);
  }

  static void move(MemorySegment from, MemorySegment to) {
    long bytes = from.byteSize();
    if (bytes > to.byteSize()) {
      throw new IndexOutOfBoundsException("bytes must be <= " + to.byteSize() + " (was " + bytes + ")");
    }
    if (CLibrary.call(state -> (long) Copying.MOVE.invokeExact(state, to, from, bytes)) != to.address()) {
      MemorySegment.copy(from, 0, to, 0, bytes); // a system without native calls
    }
  }

  /// Loaded with the first use: few processes bind memory to nodes.
  private static final class Numa {
    static final MethodHandle BIND = CLibrary.bindVariadic("syscall", 1, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
        JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG);
  }

  private static final class PageSize {
    static final MethodHandle GET = CLibrary.bind("getpagesize", JAVA_INT);
    static final long BYTES = pageSize();

    private static long pageSize() {
      long bytes = CLibrary.call(state -> (int) GET.invokeExact(state));
      return bytes > 0 ? bytes : USUAL_PAGE_BYTES;
    }
  }

  @Override
  public long map(long bytes) throws SystemCallException {
    return CLibrary.require("mmap of " + bytes + " bytes", map(bytes, PRIVATE_ANONYMOUS, NO_FILE));
  }

  MemorySegment inLargePages(long bytes, Arena arena) {
    long mapped = Math.ceilDiv(bytes, pageBytes()) * pageBytes();
    try {
      return owned(mapAligned(mapped, LARGE_PAGE_BYTES), mapped, arena).asSlice(0, bytes);
    } catch (SystemCallException e) {
      OutOfMemoryError refused = new OutOfMemoryError(e.getMessage());
      refused.initCause(e);
      throw refused;
    }
  }

  private MemorySegment owned(long address, long bytes, Arena arena) {
    int largePages = Advice.LARGE_PAGES.number();
    CLibrary.call(state -> (int) ADVISE.invokeExact(state, address, bytes, largePages)); // if refused, pages are plain
    try {
      return MemorySegment.ofAddress(address).reinterpret(bytes, arena, memory -> end(memory.address(), bytes));
    } catch (RuntimeException | Error e) { // the arena was closed
      end(address, bytes);
      throw e;
    }
  }

  private void end(long address, long bytes) {
    try {
      unmap(address, bytes);
    } catch (SystemCallException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public long mapHuge(long bytes, long pageBytes) throws SystemCallException {
    int flags = PRIVATE_ANONYMOUS | HUGE_PAGES | Long.numberOfTrailingZeros(pageBytes) << PAGE_SHIFT_AT;
    return CLibrary.require("mmap of " + bytes + " bytes in pages of " + pageBytes, map(bytes, flags, NO_FILE));
  }

  /// Maps the first `bytes` of an open file for reading and writing, shared.
  static long mapShared(int descriptor, long bytes) throws SystemCallException {
    return INSTANCE.mapShared(descriptor, bytes, READ_AND_WRITE);
  }

  /// Maps shared memory for reading alone.
  static long mapSharedToRead(int descriptor, long bytes) throws SystemCallException {
    return INSTANCE.mapShared(descriptor, bytes, READ);
  }

  /// Where the file has a large page, so has the mapping: a longer one begins at a multiple of such a page.
  private long mapShared(int descriptor, long bytes, int access) throws SystemCallException {
    String what = "mmap of " + bytes + " bytes of a file";
    if (bytes < LARGE_PAGE_BYTES) {
      return CLibrary.require(what, map(0, bytes, access, SHARED, descriptor));
    }
    long mapped = Math.ceilDiv(bytes, pageBytes()) * pageBytes();
    long room = mapped + LARGE_PAGE_BYTES;
    long place = CLibrary.require(what, map(0, room, NO_ACCESS, PRIVATE_ANONYMOUS | NO_RESERVE, NO_FILE));
    long begin = Math.ceilDiv(place, LARGE_PAGE_BYTES) * LARGE_PAGE_BYTES;
    long answer = map(begin, bytes, access, SHARED | AT_ADDRESS, descriptor);
    if (answer < 0) {
      cut(place, place + room);
    } else {
      cut(place, begin);
      cut(begin + mapped, place + room);
    }
    return CLibrary.require(what, answer);
  }

  /// Addresses without pages: it does no harm where the system keeps them.
  private static void cut(long from, long to) {
    if (from < to) {
      CLibrary.call(state -> (int) UNMAP.invokeExact(state, from, to - from));
    }
  }

  private static long map(long bytes, int flags, int descriptor) {
    return map(0, bytes, READ_AND_WRITE, flags, descriptor);
  }

  private static long map(long address, long bytes, int access, int flags, int descriptor) {
    return CLibrary.call(state -> (long) MAP.invokeExact(state, address, bytes, access, flags, descriptor, 0L));
  }

  @Override
  public void unmap(long address, long bytes) throws SystemCallException {
    CLibrary.require("munmap", bytes, address,
        CLibrary.call(state -> (int) UNMAP.invokeExact(state, address, bytes)));
  }

  @Override
  public void advise(long address, long bytes, Advice advice) throws SystemCallException {
    int number = advice.number();
    long answer = CLibrary.call(state -> (int) ADVISE.invokeExact(state, address, bytes, number));
    CLibrary.require("madvise " + advice, bytes, address, answer);
  }

  @Override
  public void lock(long address, long bytes) throws SystemCallException {
    CLibrary.require("mlock", bytes, address, CLibrary.call(state -> (int) LOCK.invokeExact(state, address, bytes)));
  }

  @Override
  public void prefer(long address, long bytes, int node) throws SystemCallException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment nodes = arena.allocate(MOST_NODES / Byte.SIZE, JAVA_LONG.byteAlignment());
      nodes.setAtIndex(JAVA_LONG, node / Long.SIZE, 1L << node % Long.SIZE);
      // the system reads one bit less than it is told
      CLibrary.require("mbind", bytes, address, CLibrary.call(state -> (long) Numa.BIND.invokeExact(state, MBIND_NUMBER,
          address, bytes, (long) PREFERRED, nodes, MOST_NODES + 1L, 0L)));
    }
  }

  @Override
  public long pageBytes() {
    return PageSize.BYTES;
  }
}
