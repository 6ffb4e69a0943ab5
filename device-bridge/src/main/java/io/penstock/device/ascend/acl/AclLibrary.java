package io.penstock.device.ascend.acl;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.penstock.device.ascend.failure.AclCode;
import io.penstock.device.ascend.failure.AclError;
import io.penstock.device.ascend.failure.AscendFailure.AscendUnsupportedException;
import io.penstock.device.ascend.failure.LibraryMismatchException;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// A loaded `libascendcl.so`: a method handle for each function that it has.
///
/// A library stays loaded until the process ends, since the runtime behind it has threads of its own.
public @SuppressWarnings("restricted") // native calls are restricted, and this class is the place for them
final class AclLibrary {
  /// Symbol of a table that a library may export so that its sizes and offsets can be compared: entries of (name,
  /// value), up to a null name. Real libraries have none.
  static final String ABI_TABLE = "penstock_abi";

  private static final MemoryLayout ABI_ENTRY = MemoryLayout.structLayout(ADDRESS, JAVA_LONG);
  private static final long MOST_ABI_ENTRIES = 1024;
  private static final long LONGEST_TEXT = 64 << 10;

  private static final MethodHandle NEW_FAILURE;

  static {
    try {
      NEW_FAILURE = MethodHandles.lookup().findStatic(AclCode.class, "exception",
          MethodType.methodType(RuntimeException.class, AclError.class));
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final String path;
  private final Map<AclFunction, MethodHandle> handles = new EnumMap<>(AclFunction.class);

  /// @throws LibraryMismatchException naming the first function that is missing, or the first value that differs
  AclLibrary(String path, SymbolLookup symbols) {
    this.path = path;
    for (AclFunction function : AclFunction.values()) {
      symbols.find(function.symbol()).ifPresentOrElse(
          address -> handles.put(function, Linker.nativeLinker().downcallHandle(address, function.signature())),
          () -> requireOptional(function));
    }
    symbols.find(ABI_TABLE).ifPresent(table -> requireAbi(abi(table)));
  }

  /// Loads the library at `path`, or of that name where the system looks for libraries; null if there is none.
  ///
  /// @throws LibraryMismatchException if the library differs from the expected one
  public static @Nullable AclLibrary load(String path) {
    SymbolLookup symbols;
    try {
      symbols = SymbolLookup.libraryLookup(path, Arena.global());
    } catch (IllegalArgumentException e) {
      return null;
    }
    return new AclLibrary(path, symbols);
  }

  private void requireOptional(AclFunction function) {
    if (function.required()) {
      throw new LibraryMismatchException("library " + path + " must export " + function.symbol() + " (was missing)");
    }
  }

  private static Map<String, Long> abi(MemorySegment table) {
    Map<String, Long> values = new TreeMap<>();
    MemorySegment entries = table.reinterpret(MOST_ABI_ENTRIES * ABI_ENTRY.byteSize());
    for (long i = 0; i < MOST_ABI_ENTRIES; i++) {
      MemorySegment name = entries.get(ADDRESS, i * ABI_ENTRY.byteSize());
      if (name.equals(MemorySegment.NULL)) {
        return values;
      }
      values.put(text(name), entries.get(JAVA_LONG, i * ABI_ENTRY.byteSize() + ADDRESS.byteSize()));
    }
    throw new LibraryMismatchException(ABI_TABLE + " must have at most " + MOST_ABI_ENTRIES + " entries (has more)");
  }

  private void requireAbi(Map<String, Long> theirs) {
    AclLayouts.sizesAndOffsets().forEach((name, ours) -> {
      Long value = theirs.get(name);
      if (value != null && !value.equals(ours)) {
        throw new LibraryMismatchException(
            "library " + path + ": " + (name.contains(".") ? "offset of " : "size of ") + name + " must be "
                + ours + " (was " + value + ")");
      }
    });
  }

  public String path() {
    return path;
  }

  public boolean has(AclFunction function) {
    return handles.containsKey(function);
  }

  /// Optional functions that the library lacks.
  Set<AclFunction> missing() {
    Set<AclFunction> missing = EnumSet.allOf(AclFunction.class);
    missing.removeAll(handles.keySet());
    return missing;
  }

  /// The handle of `function`, or one of the same shape that throws an [AscendUnsupportedException] naming it.
  public MethodHandle handle(AclFunction function) {
    MethodHandle handle = handles.get(function);
    return handle != null ? handle : missing(function);
  }

  private MethodHandle missing(AclFunction function) {
    AclError error = new AclError(function.symbol(), AclCode.FEATURE_UNSUPPORTED.number(), "not exported by " + path);
    MethodType type = function.signature().toMethodType();
    MethodHandle thrower = MethodHandles.throwException(type.returnType(), RuntimeException.class);
    return MethodHandles.dropArguments(
        MethodHandles.collectArguments(thrower, 0, MethodHandles.insertArguments(NEW_FAILURE, 0, error)), 0,
        type.parameterList());
  }

  /// Fails unless `code` is 0.
  ///
  /// @throws RuntimeException that is an `AscendFailure`
  void check(AclFunction function, int code) {
    if (code != AclCode.OK) {
      throw failure(function, code);
    }
  }

  /// The exception for an answer; takes the library's message with it, which belongs to this thread's last call.
  RuntimeException failure(AclFunction function, int code) {
    return AclCode.exception(new AclError(function.symbol(), code, recentMessage()));
  }

  private String recentMessage() {
    return has(AclFunction.RECENT_MESSAGE) ? text(AclFunction.RECENT_MESSAGE) : "";
  }

  /// Text that a function without arguments returns; empty if it returns none, or is missing.
  String text(AclFunction function) {
    if (!has(function)) {
      return "";
    }
    try {
      return text((MemorySegment) handle(function).invokeExact());
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /// A downcall throws nothing of its own: an exception is a mistake in the call.
  public static RuntimeException unexpected(Throwable e) {
    return switch (e) {
      case RuntimeException known -> known;
      case Error error -> throw error;
      default -> new IllegalStateException(e);
    };
  }

  private static String text(MemorySegment address) {
    return address.equals(MemorySegment.NULL) ? "" : address.reinterpret(LONGEST_TEXT).getString(0);
  }

  @Override
  public String toString() {
    return "library " + path;
  }
}
