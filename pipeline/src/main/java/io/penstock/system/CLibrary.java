package io.penstock.system;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.util.Objects.requireNonNull;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/// Binds functions of the C library by name and calls them. A call answers a negated error number when the system
/// refuses. A function that the library does not have answers `ENOSYS`. Safe from any thread.
@SuppressWarnings("restricted") // native calls are restricted, and this package is the place for them
final class CLibrary {
  /// Machines whose numbers are known.
  private static final Set<String> MACHINES = Set.of("amd64", "x86_64", "aarch64");
  private static final Optional<String> ABSENCE = findAbsence();

  private CLibrary() {}

  /// A class of its own, since the JDK has no linker on some machines.
  private static final class Native {
    static final Linker LINKER = Linker.nativeLinker();
    static final StructLayout STATE = Linker.Option.captureStateLayout();
    static final VarHandle ERRNO = STATE.varHandle(PathElement.groupElement("errno"));
  }

  /// A bound function with its arguments.
  @FunctionalInterface
  interface Call {
    /// @param state first argument of every bound function; receives the error number
    long make(MemorySegment state) throws Throwable;
  }

  /// Why this process has no native calls; empty if it has them.
  static Optional<String> absence() {
    return ABSENCE;
  }

  private static Optional<String> findAbsence() {
    String system = System.getProperty("os.name", "");
    String machine = System.getProperty("os.arch", "");
    if (!system.equals("Linux") || !MACHINES.contains(machine)) {
      return Optional.of("the calls of " + system + " on " + machine + " are not known");
    }
    try {
      requireNonNull(MemorySegment.NULL.reinterpret(1)); // a restricted method
      return Optional.empty();
    } catch (IllegalCallerException e) {
      return Optional.of("the JVM must run with --enable-native-access=ALL-UNNAMED (was run without)");
    }
  }

  /// Binds a function that answers -1 when it is refused.
  static MethodHandle bind(String name, MemoryLayout answer, MemoryLayout... arguments) {
    return bind(name, FunctionDescriptor.of(answer, arguments));
  }

  /// Binds such a function whose arguments from number `firstVariadic` on, counted from 0, are variadic.
  static MethodHandle bindVariadic(String name, int firstVariadic, MemoryLayout answer, MemoryLayout... arguments) {
    return bind(name, FunctionDescriptor.of(answer, arguments), Linker.Option.firstVariadicArg(firstVariadic));
  }

  private static MethodHandle bind(String name, FunctionDescriptor function, Linker.Option... more) {
    return ABSENCE.isPresent()
        ? missing(function)
        : Native.LINKER.defaultLookup().find(name)
            .map(address -> Native.LINKER.downcallHandle(address, function, options(more)))
            .orElseGet(() -> missing(function));
  }

  private static Linker.Option[] options(Linker.Option... more) {
    return Stream.concat(Stream.of(Linker.Option.captureCallState("errno")), Stream.of(more))
        .toArray(Linker.Option[]::new);
  }

  private static MethodHandle missing(FunctionDescriptor function) {
    MethodType type = function.toMethodType().insertParameterTypes(0, MemorySegment.class);
    boolean isInt = function.returnLayout().equals(Optional.of(JAVA_INT));
    Object answer = isInt ? (Object) (-SystemCallException.ENOSYS) : (Object) (long) -SystemCallException.ENOSYS;
    return MethodHandles.dropArguments(MethodHandles.constant(type.returnType(), answer), 0, type.parameterList());
  }

  /// Returns the answer of the function, or the negated error number.
  static long call(Call call) {
    if (ABSENCE.isPresent()) {
      return -SystemCallException.ENOSYS;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(Native.STATE);
      long answer = call.make(state);
      return answer == -1 ? -(int) Native.ERRNO.get(state, 0L) : answer;
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) { // a downcall throws nothing of its own
      throw new IllegalStateException(e);
    }
  }

  /// Returns `answer` unless it is a refusal.
  ///
  /// @param what name of the call and what it was made for, named in the error
  static long require(String what, long answer) throws SystemCallException {
    if (answer < 0) {
      throw new SystemCallException(what, (int) -answer);
    }
    return answer;
  }

  /// Returns `answer` of a call that concerns memory unless it is a refusal.
  static long require(String what, long bytes, long address, long answer) throws SystemCallException {
    return answer < 0 ? require("%s of %d bytes at %#x".formatted(what, bytes, address), answer) : answer;
  }
}
