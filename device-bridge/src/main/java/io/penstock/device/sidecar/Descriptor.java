package io.penstock.device.sidecar;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// An open file of Linux by its number, with what the JDK has no call for: memfds, seals, mappings that say when they fail. Whoever opened it
/// closes it, once.
@SuppressWarnings("restricted") // what calls native code is restricted, and this module is the place for it
final class Descriptor {
  /// Nobody makes the file shorter.
  static final int SEAL_SHRINK = 2;
  /// Nobody makes it longer.
  static final int SEAL_GROW = 4;

  private static final int READ_WRITE = 2;
  private static final int NONBLOCK = 0x800;
  private static final int CLOSE_ON_EXEC = 0x80000;
  /// The same on x86-64; 0x8000 on aarch64.
  private static final int NO_FOLLOW = System.getProperty("os.arch", "").equals("aarch64") ? 0x8000 : 0x20000;
  private static final int MEMFD_CLOSE_ON_EXEC = 1;
  private static final int MEMFD_ALLOW_SEALING = 2;
  private static final int ADD_SEALS = 1033;
  private static final int GET_SEALS = 1034;
  private static final int SEEK_END = 2;
  private static final int PROTECTION_READ_WRITE = 3;
  private static final int SHARED = 1;
  private static final int POPULATE_WRITE = 23;
  private static final int INVALID = 22;
  private static final long FAILED = -1;

  private static final StructLayout STATE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO = STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

  private static final MethodHandle OPEN = function("open", 2, ADDRESS, JAVA_INT, JAVA_INT);
  private static final MethodHandle CLOSE = function("close", 0, JAVA_INT);
  private static final MethodHandle MEMFD = function("memfd_create", 0, ADDRESS, JAVA_INT);
  private static final MethodHandle RESIZE = function("ftruncate", 0, JAVA_INT, JAVA_LONG);
  private static final MethodHandle SEEK = function("lseek", 0, JAVA_INT, JAVA_LONG, JAVA_INT);
  private static final MethodHandle CONTROL = function("fcntl", 2, JAVA_INT, JAVA_INT, JAVA_INT);
  private static final MethodHandle MAP = function("mmap", 0, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
  private static final MethodHandle UNMAP = function("munmap", 0, ADDRESS, JAVA_LONG);
  private static final MethodHandle ADVISE = function("madvise", 0, ADDRESS, JAVA_LONG, JAVA_INT);
  private static final MethodHandle READ = function("pread", 0, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle WRITE = function("pwrite", 0, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG);

  private final int number;

  private Descriptor(int number) {
    this.number = number;
  }

  /// All answer a `long`, so that one shape of call serves: an `int` comes with its upper half undefined, and is cut by whoever called.
  private static MethodHandle function(String name, int firstVariadic, MemoryLayout... arguments) {
    Linker linker = Linker.nativeLinker();
    FunctionDescriptor signature = FunctionDescriptor.of(JAVA_LONG, arguments);
    MemorySegment address = linker.defaultLookup().findOrThrow(name);
    Linker.Option errno = Linker.Option.captureCallState("errno");
    return firstVariadic == 0 ? linker.downcallHandle(address, signature, errno)
        : linker.downcallHandle(address, signature, errno, Linker.Option.firstVariadicArg(firstVariadic));
  }

  private interface Call {
    long call(MemorySegment state) throws Throwable;
  }

  private static long call(String what, Call call) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      long answer = call.call(state);
      if (answer == FAILED) {
        throw new SystemCallException(what, (int) ERRNO.get(state, 0L));
      }
      return answer;
    } catch (IOException e) {
      throw e;
    } catch (Throwable e) {
      throw Libc.unexpected(e);
    }
  }

  /// Of a function that answers an `int`.
  private static int callInt(String what, Call call) throws IOException {
    return (int) call(what, state -> (int) call.call(state));
  }

  /// Opens an existing file for reading and writing; does not wait for anybody.
  ///
  /// @param follow whether `path` may be a link
  static Descriptor open(Path path, boolean follow) throws IOException {
    int flags = READ_WRITE | NONBLOCK | CLOSE_ON_EXEC | (follow ? 0 : NO_FOLLOW);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment name = arena.allocateFrom(path.toString());
      return new Descriptor(callInt("open " + path, state -> (long) OPEN.invokeExact(state, name, flags, 0)));
    }
  }

  /// Memory behind a descriptor, which no file system has.
  ///
  /// @param name for whoever looks into `/proc`
  static Descriptor memfd(String name, long bytes) throws IOException {
    Descriptor made;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment text = arena.allocateFrom(name);
      made = new Descriptor(callInt("memfd_create", state -> (long) MEMFD.invokeExact(state, text, MEMFD_CLOSE_ON_EXEC | MEMFD_ALLOW_SEALING)));
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

  void resize(long bytes) throws IOException {
    callInt("ftruncate", state -> (long) RESIZE.invokeExact(state, number, bytes));
  }

  long bytes() throws IOException {
    return call("lseek", state -> (long) SEEK.invokeExact(state, number, 0L, SEEK_END));
  }

  void seal(int seals) throws IOException {
    callInt("fcntl F_ADD_SEALS", state -> (long) CONTROL.invokeExact(state, number, ADD_SEALS, seals));
  }

  /// What nobody can do any more to a memfd.
  int seals() throws IOException {
    return callInt("fcntl F_GET_SEALS", state -> (long) CONTROL.invokeExact(state, number, GET_SEALS, 0));
  }

  /// Maps the first `bytes`, shared, for reading and writing; closing `arena` unmaps them.
  MemorySegment map(long bytes, Arena arena) throws IOException {
    long address = call("mmap", state ->
        (long) MAP.invokeExact(state, MemorySegment.NULL, bytes, PROTECTION_READ_WRITE, SHARED, number, 0L));
    return MemorySegment.ofAddress(address).reinterpret(bytes, arena, Descriptor::unmap);
  }

  private static void unmap(MemorySegment mapped) {
    try {
      callInt("munmap", state -> (long) UNMAP.invokeExact(state, MemorySegment.ofAddress(mapped.address()), mapped.byteSize()));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /// Has the system find memory for all pages of a mapping, so that none is missing when it is touched. A system that cannot does nothing.
  static void populate(MemorySegment mapped) throws IOException {
    try {
      callInt("madvise", state -> (long) ADVISE.invokeExact(state, mapped, mapped.byteSize(), POPULATE_WRITE));
    } catch (SystemCallException e) {
      if (e.errno() != INVALID) {
        throw e;
      }
    }
  }

  /// @throws IOException if not all bytes are there
  void read(long offset, MemorySegment into) throws IOException {
    whole("read", offset, into.byteSize(), READ, into);
  }

  void write(long offset, MemorySegment from) throws IOException {
    whole("written", offset, from.byteSize(), WRITE, from);
  }

  private void whole(String done, long offset, long bytes, MethodHandle function, MemorySegment memory) throws IOException {
    for (long at = 0; at < bytes; ) {
      long from = at;
      long moved = call(done, state ->
          (long) function.invokeExact(state, number, memory.asSlice(from), bytes - from, offset + from));
      if (moved == 0) {
        throw new IOException("bytes " + done + " at " + offset + " must be " + bytes + " (was " + at + ": the file was cut short)");
      }
      at += moved;
    }
  }

  /// Of no further use; what is mapped stays.
  void close() {
    try {
      callInt("close", state -> (long) CLOSE.invokeExact(state, number));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /// Closes `opened` if there is one.
  static void close(@Nullable Descriptor opened) {
    if (opened != null) {
      opened.close();
    }
  }
}
