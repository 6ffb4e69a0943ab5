package io.penstock.system;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/// An open file of Linux by its descriptor, with calls that the JDK lacks: memfds, seals, locks of one opening,
/// mappings that report their failure, advice on the page cache, reads into many parts by one call.
///
/// The opener closes it, once. Calls after that are a mistake: the number may belong to another file by then.
@SuppressWarnings("restricted") // native calls are restricted, and this package is the place for them
public final class NativeFile implements AutoCloseable {
  private static final int READ_ONLY = 0;
  private static final int READ_WRITE = 2;
  private static final int CREATE = 0x40;
  private static final int OWNER_ONLY = 0600;
  private static final int NONBLOCK = 0x800;
  private static final int CLOSE_ON_EXEC = 0x80000;
  private static final int NO_FOLLOW = System.getProperty("os.arch", "").equals("aarch64") ? 0x8000 : 0x20000;
  private static final int MEMFD_CLOSE_ON_EXEC = 1;
  private static final int MEMFD_ALLOW_SEALING = 2;
  private static final int ADD_SEALS = 1033;
  private static final int GET_SEALS = 1034;
  private static final int SEAL_SHRINK = 2;
  private static final int SEAL_GROW = 4;
  private static final int SEAL_FUTURE_WRITE = 16;
  private static final int SEEK_END = 2;
  private static final int LOCK_SHARED = 1;
  private static final int LOCK_EXCLUSIVE = 2;
  private static final int LOCK_NO_WAIT = 4;
  private static final int THIS_FILE = 0x1000;
  private static final int LINKS = 4;
  private static final int STATX_BYTES = 256;
  private static final int LINKS_AT = 16;
  private static final int STATFS_BYTES = 256;
  private static final long MEMORY_OF_PLAIN_PAGES = 0x01021994;

  private static final MethodHandle OPEN = CLibrary.bindVariadic("open", 2, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT);
  private static final MethodHandle CLOSE = CLibrary.bind("close", JAVA_INT, JAVA_INT);

  private final int number;

  /// Advice to the system about a range of a file.
  public enum Advice {
    /// No readahead.
    RANDOM(1),
    /// Begin to read the range into the page cache.
    WILL_NEED(3),
    /// Take the range out of the page cache, except pages that are not on the medium yet.
    DONT_NEED(4);

    private final int number;

    Advice(int number) {
      this.number = number;
    }

    int number() {
      return number;
    }
  }

  private NativeFile(int number) {
    this.number = number;
  }

  /// Functions for memory that processes share. A class of its own, so that only those who use them bind them.
  private static final class Sharing {
    static final MethodHandle MEMFD = CLibrary.bind("memfd_create", JAVA_INT, ADDRESS, JAVA_INT);
    static final MethodHandle RESIZE = CLibrary.bind("ftruncate", JAVA_INT, JAVA_INT, JAVA_LONG);
    static final MethodHandle SEEK = CLibrary.bind("lseek", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT);
    static final MethodHandle CONTROL = CLibrary.bindVariadic("fcntl", 2, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT);
    static final MethodHandle LOCK = CLibrary.bind("flock", JAVA_INT, JAVA_INT, JAVA_INT);
    static final MethodHandle STATFS = CLibrary.bind("fstatfs", JAVA_INT, JAVA_INT, ADDRESS);
    static final MethodHandle READ = CLibrary.bind("pread", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG);
    static final MethodHandle WRITE = CLibrary.bind("pwrite", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG);
  }

  /// Functions for files on a medium.
  private static final class Storing {
    static final MethodHandle ADVISE =
        CLibrary.bind("posix_fadvise", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
    static final MethodHandle RESERVE = CLibrary.bind("fallocate", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG);
    static final MethodHandle READ_PARTS = CLibrary.bind("preadv", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT, JAVA_LONG);
    static final MethodHandle STAT = CLibrary.bind("statx", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS);
  }

  /// Opens an existing file for reading and writing without waiting for anything; follows a link.
  public static NativeFile open(Path path) throws SystemCallException {
    return open(path, READ_WRITE);
  }

  /// Opens a file; refuses a link.
  public static NativeFile openNoLink(Path path) throws SystemCallException {
    return open(path, READ_WRITE | NO_FOLLOW);
  }

  /// Opens a file. If it is missing, creates one that only this user may read and write.
  public static NativeFile openOrCreate(Path path) throws SystemCallException {
    return open(path, READ_WRITE | NO_FOLLOW | CREATE);
  }

  /// Opens an existing file for reading.
  public static NativeFile openToRead(Path path) throws SystemCallException {
    return open(path, READ_ONLY);
  }

  private static NativeFile open(Path path, int mode) throws SystemCallException {
    int flags = mode | NONBLOCK | CLOSE_ON_EXEC;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment name = arena.allocateFrom(path.toString());
      long answer = CLibrary.call(state -> (int) OPEN.invokeExact(state, name, flags, OWNER_ONLY));
      return new NativeFile((int) CLibrary.require("open of " + path, answer));
    }
  }

  /// Makes a memfd: memory behind a descriptor, in no file system.
  ///
  /// @param name shown in `/proc`
  public static NativeFile memfd(String name, long bytes) throws SystemCallException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment text = arena.allocateFrom(name);
      long answer = CLibrary.call(
          state -> (int) Sharing.MEMFD.invokeExact(state, text, MEMFD_CLOSE_ON_EXEC | MEMFD_ALLOW_SEALING));
      NativeFile made = new NativeFile((int) CLibrary.require("memfd_create of " + name, answer));
      try {
        made.resize(bytes);
        return made;
      } catch (SystemCallException e) {
        made.close();
        throw e;
      }
    }
  }

  /// The descriptor.
  public int number() {
    return number;
  }

  /// Path of this open file in `/proc`.
  public Path shown() {
    return Path.of("/proc/self/fd/" + number);
  }

  /// Locks the file for this opening of it until it is closed or its process ends.
  ///
  /// @return false if another opening has the lock, in this process or in another
  public boolean tryLock() throws SystemCallException {
    return tryLock(LOCK_EXCLUSIVE);
  }

  /// Locks the file as [#tryLock] does, but beside others that lock it so.
  ///
  /// @return false if another opening has the lock for itself
  public boolean tryShare() throws SystemCallException {
    return tryLock(LOCK_SHARED);
  }

  private boolean tryLock(int kind) throws SystemCallException {
    long answer = CLibrary.call(state -> (int) Sharing.LOCK.invokeExact(state, number, kind | LOCK_NO_WAIT));
    return answer != -SystemCallException.EAGAIN && require("flock", answer) == 0;
  }

  public void resize(long bytes) throws SystemCallException {
    long answer = CLibrary.call(state -> (int) Sharing.RESIZE.invokeExact(state, number, bytes));
    require("ftruncate to " + bytes + " bytes", answer);
  }

  /// Length of the file.
  public long bytes() throws SystemCallException {
    return require("lseek", CLibrary.call(state -> (long) Sharing.SEEK.invokeExact(state, number, 0L, SEEK_END)));
  }

  /// Names that the file has; 0 once it was deleted.
  public int links() throws SystemCallException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment found = arena.allocate(STATX_BYTES, Long.BYTES);
      MemorySegment noName = arena.allocateFrom("");
      require("statx", CLibrary
          .call(state -> (int) Storing.STAT.invokeExact(state, number, noName, THIS_FILE, LINKS, found)));
      return found.get(JAVA_INT, LINKS_AT);
    }
  }

  /// Seals the length of a memfd: it stays as it is, whichever process tries to change it.
  public void sealLength() throws SystemCallException {
    require("fcntl F_ADD_SEALS",
        CLibrary.call(state -> (int) Sharing.CONTROL.invokeExact(state, number, ADD_SEALS, SEAL_SHRINK | SEAL_GROW)));
  }

  /// Seals the length of a memfd, and makes the system refuse new writable mappings; existing ones stay. Linux before
  /// 5.1 seals the length alone.
  public void sealForReaders() throws SystemCallException {
    sealLength();
    long answer = CLibrary.call(
        state -> (int) Sharing.CONTROL.invokeExact(state, number, ADD_SEALS, SEAL_FUTURE_WRITE));
    if (answer != -SystemCallException.EINVAL) {
      require("fcntl F_ADD_SEALS", answer);
    }
  }

  /// Whether the file is memory of plain pages: a memfd of huge pages may lack a page that is read.
  public boolean isPlainMemory() throws SystemCallException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment found = arena.allocate(STATFS_BYTES, Long.BYTES);
      require("fstatfs", CLibrary.call(state -> (int) Sharing.STATFS.invokeExact(state, number, found)));
      return found.get(JAVA_LONG, 0) == MEMORY_OF_PLAIN_PAGES;
    }
  }

  /// Whether a memfd is sealed against becoming shorter.
  public boolean mayNotShrink() throws SystemCallException {
    long answer = CLibrary.call(state -> (int) Sharing.CONTROL.invokeExact(state, number, GET_SEALS, 0));
    return (require("fcntl F_GET_SEALS", answer) & SEAL_SHRINK) != 0;
  }

  /// Maps the first `bytes`, shared, for reading alone; closing `arena` unmaps them.
  public MemorySegment mapToRead(long bytes, Arena arena) throws SystemCallException {
    return MemorySegment.ofAddress(LinuxMemory.mapSharedToRead(number, bytes))
        .reinterpret(bytes, arena, NativeFile::unmap).asReadOnly();
  }

  /// Maps the first `bytes`, shared, for reading and writing; closing `arena` unmaps them.
  public MemorySegment map(long bytes, Arena arena) throws SystemCallException {
    return MemorySegment.ofAddress(LinuxMemory.mapShared(number, bytes)).reinterpret(bytes, arena, NativeFile::unmap);
  }

  private static void unmap(MemorySegment mapped) {
    try {
      NativeMemory.ofSystem().unmap(mapped.address(), mapped.byteSize());
    } catch (SystemCallException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Reserves the first `bytes` on the medium; the file grows to them.
  public void reserve(long bytes) throws SystemCallException {
    long answer = CLibrary.call(state -> (int) Storing.RESERVE.invokeExact(state, number, 0, 0L, bytes));
    require("fallocate of " + bytes + " bytes", answer);
  }

  /// @param bytes of the range; 0 for all behind `offset`
  public void advise(long offset, long bytes, Advice advice) throws SystemCallException {
    int advised = advice.number();
    long answer = CLibrary.call(state -> (int) Storing.ADVISE.invokeExact(state, number, offset, bytes, advised));
    require("posix_fadvise", -Math.abs(answer)); // the function answers the error number itself
  }

  /// Fills `into` from `offset` on.
  ///
  /// @throws IOException if the file is too short
  public void read(long offset, MemorySegment into) throws IOException {
    whole("read", offset, into.byteSize(), Sharing.READ, into);
  }

  /// Writes all of `from`, from `offset` on.
  public void write(long offset, MemorySegment from) throws IOException {
    whole("written", offset, from.byteSize(), Sharing.WRITE, from);
  }

  private void whole(String done, long offset, long bytes, MethodHandle function, MemorySegment memory)
      throws IOException {
    for (long at = 0; at < bytes;) {
      long from = at;
      MemorySegment rest = memory.asSlice(from);
      long moved = require("read or write",
          CLibrary.call(state -> (long) function.invokeExact(state, number, rest, bytes - from, offset + from)));
      if (moved == 0) {
        throw new IOException(
            "bytes " + done + " at " + offset + " must be " + bytes + " (was " + at + ": the file was cut short)");
      }
      at += moved;
    }
  }

  /// Reads into `parts`, one after the other, from `offset` on by one call, so that the system fetches all at once.
  ///
  /// @param parts native memory, at most 1,024
  /// @return bytes that were read; fewer than wanted where the file ends
  public long read(long offset, MemorySegment[] parts) throws SystemCallException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment vectors = arena.allocate(JAVA_LONG, 2L * parts.length);
      for (int i = 0; i < parts.length; i++) {
        vectors.setAtIndex(JAVA_LONG, 2L * i, parts[i].address());
        vectors.setAtIndex(JAVA_LONG, 2L * i + 1, parts[i].byteSize());
      }
      return require("preadv",
          CLibrary.call(
              state -> (long) Storing.READ_PARTS.invokeExact(state, number, vectors, parts.length, offset)));
    }
  }

  /// Mappings stay.
  @Override
  public void close() {
    try {
      require("close", CLibrary.call(state -> (int) CLOSE.invokeExact(state, number)));
    } catch (SystemCallException e) {
      throw new UncheckedIOException(e);
    }
  }

  private long require(String what, long answer) throws SystemCallException {
    return answer < 0 ? CLibrary.require(what + " on descriptor " + number, answer) : answer;
  }
}
