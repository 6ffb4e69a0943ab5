package io.penstock.device.memory;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/// The system's own calls, through the C library.
@SuppressWarnings("restricted") // what calls native code is restricted, and this is the place for it
final class LinuxCalls implements SystemCalls {
  private static final int READ_AND_WRITE = 0x3;
  private static final int PRIVATE_ANONYMOUS = 0x22;
  private static final int PREFERRED = 1;
  private static final long MOST_NODES = 1024;
  /// The C library has no function for `mbind`.
  private static final Map<String, Long> BIND = Map.of("amd64", 237L, "x86_64", 237L, "aarch64", 235L);

  private static final StructLayout STATE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO = STATE.varHandle(PathElement.groupElement("errno"));

  private final long bindNumber;
  private final MethodHandle map = checked("mmap", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
  private final MethodHandle unmap = checked("munmap", JAVA_INT, JAVA_LONG, JAVA_LONG);
  private final MethodHandle advise = checked("madvise", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
  private final MethodHandle lock = checked("mlock", JAVA_INT, JAVA_LONG, JAVA_LONG);
  private final MethodHandle call = checked("syscall", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG);
  private final long pageBytes;

  private LinuxCalls(long bindNumber) {
    this.bindNumber = bindNumber;
    this.pageBytes = pageSize();
  }

  /// Empty on systems and machines whose numbers are not known.
  static Optional<SystemCalls> find() {
    Long bind = BIND.get(System.getProperty("os.arch").toLowerCase(Locale.ROOT));
    return bind == null || !System.getProperty("os.name").equals("Linux") ? Optional.empty() : Optional.of(new LinuxCalls(bind));
  }

  private static MethodHandle checked(String name, MemoryLayout answer, MemoryLayout... arguments) {
    return Linker.nativeLinker().downcallHandle(Linker.nativeLinker().defaultLookup().findOrThrow(name),
        FunctionDescriptor.of(answer, arguments), Linker.Option.captureCallState("errno"));
  }

  private static long pageSize() {
    try {
      return (int) Linker.nativeLinker().downcallHandle(Linker.nativeLinker().defaultLookup().findOrThrow("getpagesize"),
          FunctionDescriptor.of(JAVA_INT)).invokeExact();
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  @Override
  public long map(long bytes, int flags) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      return refused((long) map.invokeExact(state, 0L, bytes, READ_AND_WRITE, PRIVATE_ANONYMOUS | flags, -1, 0L), state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  @Override
  public long unmap(long address, long bytes) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      return refused((int) unmap.invokeExact(state, address, bytes), state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  @Override
  public long advise(long address, long bytes, int advice) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      return refused((int) advise.invokeExact(state, address, bytes, advice), state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  @Override
  public long lock(long address, long bytes) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      return refused((int) lock.invokeExact(state, address, bytes), state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  @Override
  public long bind(long address, long bytes, MemorySegment nodes) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      // the system reads one bit less than it is told
      return refused((long) call.invokeExact(state, bindNumber, address, bytes, (long) PREFERRED, nodes, MOST_NODES + 1, 0L), state);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  @Override
  public long pageBytes() {
    return pageBytes;
  }

  private static long refused(long answer, MemorySegment state) {
    return answer == -1 ? -(int) ERRNO.get(state, 0L) : answer;
  }

  /// A downcall throws nothing of its own: what comes is a mistake in the call.
  private static RuntimeException unexpected(Throwable e) {
    return switch (e) {
      case RuntimeException known -> known;
      case Error error -> throw error;
      default -> new IllegalStateException(e);
    };
  }
}
