package io.penstock.device.sidecar;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.penstock.device.system.CLibrary;
import io.penstock.device.system.Errno;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/// An open file of Linux by its number, with what the JDK has no call for: memfds, seals, mappings that say when they
/// fail. Whoever opened it closes it, once.
@SuppressWarnings("restricted") // what calls native code is restricted, and this module is the place for it
final class Descriptor {
  /// Nobody makes the file shorter.
  static final int SEAL_SHRINK = 2;
  /// Nobody makes it longer.
  static final int SEAL_GROW = 4;

  private static final int READ_WRITE = 2;
  private static final int CREATE = 0x40;
  private static final int OWNERS_ALONE = 0600;
  private static final int NONBLOCK = 0x800;
  private static final int CLOSE_ON_EXEC = 0x80000;
  /// The same on x86-64; 0x8000 on aarch64.
  private static final int NO_FOLLOW = System.getProperty("os.arch", "").equals("aarch64") ? 0x8000 : 0x20000;
  private static final int MEMFD_CLOSE_ON_EXEC = 1;
  private static final int MEMFD_ALLOW_SEALING = 2;
  private static final int ADD_SEALS = 1033;
  private static final int GET_SEALS = 1034;
  private static final int SEEK_END = 2;
  private static final int LOCK_ALONE_OR_FAIL = 2 | 4;

  private static final MethodHandle OPEN = CLibrary.bindVariadic("open", 2, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT);
  private static final MethodHandle CLOSE = CLibrary.bind("close", JAVA_INT, JAVA_INT);
  private static final MethodHandle MEMFD = CLibrary.bind("memfd_create", JAVA_INT, ADDRESS, JAVA_INT);
  private static final MethodHandle RESIZE = CLibrary.bind("ftruncate", JAVA_INT, JAVA_INT, JAVA_LONG);
  private static final MethodHandle SEEK = CLibrary.bind("lseek", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT);
  private static final MethodHandle CONTROL = CLibrary.bindVariadic("fcntl", 2, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT);
  private static final MethodHandle LOCK = CLibrary.bind("flock", JAVA_INT, JAVA_INT, JAVA_INT);
  private static final MethodHandle READ = CLibrary.bind("pread", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle WRITE = CLibrary.bind("pwrite", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG);

  private final int number;

  private Descriptor(int number) {
    this.number = number;
  }

  /// Opens an existing file for reading and writing; does not wait for anybody.
  ///
  /// @param follow whether `path` may be a link
  static Descriptor open(Path path, boolean follow) throws IOException {
    return open(path, follow ? 0 : NO_FOLLOW);
  }

  /// The same, with a new file of this user where there is none; `path` may be no link.
  static Descriptor openOrCreate(Path path) throws IOException {
    return open(path, NO_FOLLOW | CREATE);
  }

  private static Descriptor open(Path path, int more) throws IOException {
    int flags = READ_WRITE | NONBLOCK | CLOSE_ON_EXEC | more;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment name = arena.allocateFrom(path.toString());
      return new Descriptor((int) CLibrary.callOrThrow("open " + path,
          state -> (int) OPEN.invokeExact(state, name, flags, OWNERS_ALONE)));
    }
  }

  /// Memory behind a descriptor, which no file system has.
  ///
  /// @param name for whoever looks into `/proc`
  static Descriptor memfd(String name, long bytes) throws IOException {
    Descriptor made;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment text = arena.allocateFrom(name);
      made = new Descriptor((int) CLibrary.callOrThrow("memfd_create",
          state -> (int) MEMFD.invokeExact(state, text, MEMFD_CLOSE_ON_EXEC | MEMFD_ALLOW_SEALING)));
    }
    try {
      made.resize(bytes);
      return made;
    } catch (IOException e) {
      made.close();
      throw e;
    }
  }

  int number() {
    return number;
  }

  /// Where the system shows this open file.
  Path shown() {
    return Path.of("/proc/self/fd/" + number);
  }

  /// Locks it for this opening of it, until that is closed, or its process ends; false if another has it, here or
  /// elsewhere.
  boolean tryLock() throws IOException {
    long answer = CLibrary.call(state -> (int) LOCK.invokeExact(state, number, LOCK_ALONE_OR_FAIL));
    return answer != -Errno.EAGAIN && CLibrary.orThrow("flock", answer) == 0;
  }

  void resize(long bytes) throws IOException {
    CLibrary.callOrThrow("ftruncate", state -> (int) RESIZE.invokeExact(state, number, bytes));
  }

  long bytes() throws IOException {
    return CLibrary.callOrThrow("lseek", state -> (long) SEEK.invokeExact(state, number, 0L, SEEK_END));
  }

  void seal(int seals) throws IOException {
    CLibrary.callOrThrow("fcntl F_ADD_SEALS", state -> (int) CONTROL.invokeExact(state, number, ADD_SEALS, seals));
  }

  /// What nobody can do any more to a memfd.
  int seals() throws IOException {
    return (int) CLibrary.callOrThrow("fcntl F_GET_SEALS",
        state -> (int) CONTROL.invokeExact(state, number, GET_SEALS, 0));
  }

  /// Maps the first `bytes`, shared, for reading and writing; closing `arena` unmaps them.
  MemorySegment map(long bytes, Arena arena) throws IOException {
    long address = CLibrary.orThrow("mmap", CLibrary.map(bytes, CLibrary.MAP_SHARED, number));
    return MemorySegment.ofAddress(address).reinterpret(bytes, arena, Descriptor::unmap);
  }

  private static void unmap(MemorySegment mapped) {
    long answer = CLibrary.unmap(mapped.address(), mapped.byteSize());
    if (answer < 0) {
      throw new IllegalStateException(Errno.text("munmap", answer));
    }
  }

  /// Has the system find memory for all pages of a mapping, so that none is missing when it is touched. A system that
  /// cannot does nothing.
  static void populate(MemorySegment mapped) throws IOException {
    long answer = CLibrary.advise(mapped.address(), mapped.byteSize(), CLibrary.POPULATE_WRITE);
    if (answer != -Errno.EINVAL) { // before 5.14
      CLibrary.orThrow("madvise", answer);
    }
  }

  /// @throws IOException if not all bytes are there
  void read(long offset, MemorySegment into) throws IOException {
    whole("read", offset, into.byteSize(), READ, into);
  }

  void write(long offset, MemorySegment from) throws IOException {
    whole("written", offset, from.byteSize(), WRITE, from);
  }

  private void whole(String done, long offset, long bytes, MethodHandle function, MemorySegment memory)
      throws IOException {
    for (long at = 0; at < bytes;) {
      long from = at;
      long moved = CLibrary.callOrThrow(done,
          state -> (long) function.invokeExact(state, number, memory.asSlice(from), bytes - from, offset + from));
      if (moved == 0) {
        throw new IOException(
            "bytes " + done + " at " + offset + " must be " + bytes + " (was " + at + ": the file was cut short)");
      }
      at += moved;
    }
  }

  /// Of no further use; what is mapped stays.
  void close() {
    try {
      CLibrary.callOrThrow("close", state -> (int) CLOSE.invokeExact(state, number));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
