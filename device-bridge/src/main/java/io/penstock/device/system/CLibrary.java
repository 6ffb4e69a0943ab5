package io.penstock.device.system;

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

/// Functions of the C library, bound by name. A call answers what the function does, or less than 0 when the system
/// refuses: the negated error number. Safe from any thread; Linux only.
@SuppressWarnings("restricted") // what calls native code is restricted, and this is the place for it
public final class CLibrary {
  /// Flag of [#map]: others who map the file see what is written.
  public static final int MAP_SHARED = 0x1;
  /// Flags of [#map]: memory of this process, without a file.
  public static final int MAP_PRIVATE_ANONYMOUS = 0x22;
  /// Advice: make all pages now, as a write would.
  public static final int POPULATE_WRITE = 23;

  private static final int READ_AND_WRITE = 0x3;
  private static final Linker LINKER = Linker.nativeLinker();
  private static final StructLayout STATE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO = STATE.varHandle(PathElement.groupElement("errno"));

  private static final MethodHandle MAP =
      bind("mmap", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
  private static final MethodHandle UNMAP = bind("munmap", JAVA_INT, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle ADVISE = bind("madvise", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
  private static final MethodHandle MOVE =
      LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow("memmove"),
          FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS, JAVA_LONG));

  private CLibrary() {}

  /// A bound function with its arguments.
  @FunctionalInterface
  public interface Call {
    /// @param state first argument of whatever was bound here
    long make(MemorySegment state) throws Throwable;
  }

  /// A function that says by -1 that it was refused, for [#call].
  public static MethodHandle bind(String name, MemoryLayout answer, MemoryLayout... arguments) {
    return LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(name), FunctionDescriptor.of(answer, arguments),
        Linker.Option.captureCallState("errno"));
  }

  /// The same of one whose arguments from number `firstVariadic` on, counted from 0, are a matter of the call.
  public static MethodHandle bindVariadic(String name, int firstVariadic, MemoryLayout answer,
      MemoryLayout... arguments) {
    return LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(name), FunctionDescriptor.of(answer, arguments),
        Linker.Option.captureCallState("errno"), Linker.Option.firstVariadicArg(firstVariadic));
  }

  /// What the function answered, or the negated error number.
  public static long call(Call call) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      long answer = call.make(state);
      return answer == -1 ? -(int) ERRNO.get(state, 0L) : answer;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /// What the function answered.
  ///
  /// @param what named in the error
  public static long callOrThrow(String what, Call call) throws SystemCallException {
    return orThrow(what, call(call));
  }

  /// `answer`, unless that is a refusal.
  public static long orThrow(String what, long answer) throws SystemCallException {
    if (answer < 0) {
      throw new SystemCallException(what, answer);
    }
    return answer;
  }

  /// Maps memory for reading and writing; its address.
  ///
  /// @param descriptor of a file, mapped from its beginning, or -1
  public static long map(long bytes, int flags, int descriptor) {
    return call(state -> (long) MAP.invokeExact(state, 0L, bytes, READ_AND_WRITE, flags, descriptor, 0L));
  }

  public static long unmap(long address, long bytes) {
    return call(state -> (int) UNMAP.invokeExact(state, address, bytes));
  }

  public static long advise(long address, long bytes, int advice) {
    return call(state -> (int) ADVISE.invokeExact(state, address, bytes, advice));
  }

  /// Copies all of `from`; the two may overlap. A thread that is in it keeps no other from stopping for the collector,
  /// however long it takes.
  public static void move(MemorySegment from, MemorySegment to) {
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

  /// A downcall throws nothing of its own: what comes is a mistake in the call.
  public static RuntimeException unexpected(Throwable e) {
    return switch (e) {
      case RuntimeException known -> known;
      case Error error -> throw error;
      default -> new IllegalStateException(e);
    };
  }
}
