package io.penstock.device.ascend;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/// A `libascendcl.so` made of `ascendcl.c` with the system's C compiler, and its controls for tests. Each is a file of
/// its own, so it has a state of its own.
@SuppressWarnings("restricted")
public final class DriverDouble {
  private static final MemoryLayout CALL = MemoryLayout.structLayout(MemoryLayout.sequenceLayout(4, JAVA_INT),
      MemoryLayout.sequenceLayout(3, JAVA_LONG));

  private static final Map<List<String>, Path> COMPILED = new ConcurrentHashMap<>();

  /// The releases of CANN that differ in what they export and answer.
  public enum Profile {
    CANN_82(82), CANN_83(83), CANN_90(90);

    private final int number;

    Profile(int number) {
      this.number = number;
    }
  }

  /// A call that was made, as the library saw it.
  record Call(String function, int code, int device, int direction, long thread, long elements, long bytes) {}

  private final Path path;
  private final SymbolLookup symbols;

  private DriverDouble(Path path) {
    this.path = path;
    this.symbols = SymbolLookup.libraryLookup(path, Arena.global());
  }

  /// Compiles one of `profile`; the test is skipped where there is no C compiler.
  public static DriverDouble of(Profile profile, String... defines) {
    return new DriverDouble(compile(profile, defines));
  }

  /// Compiles without loading, each kind once in a run of tests.
  public static Path compile(Profile profile, String... defines) {
    List<String> kind = new ArrayList<>(List.of("-DCANN=" + profile.number));
    kind.addAll(List.of(defines));
    try {
      Path one = COMPILED.get(kind);
      if (one == null) {
        one = compile(kind);
        COMPILED.put(kind, one);
      }
      return Files.copy(one, file(), StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path compile(List<String> kind) throws IOException {
    Path made = file();
    String optimised = kind.size() > 1 ? "-O0" : "-O2"; // only plain profiles are measured
    List<String> command =
        new ArrayList<>(List.of("cc", "-std=gnu11", optimised, "-fPIC", "-shared", "-fvisibility=hidden"));
    command.addAll(kind);
    command.addAll(List.of("-o", made.toString(), "-x", "c", "-", "-lpthread"));
    run(command);
    return made;
  }

  private static Path file() throws IOException {
    Path file = Files.createTempFile(Files.createDirectories(Path.of("target", "ascendcl")), "libascendcl-", ".so")
        .toAbsolutePath();
    file.toFile().deleteOnExit();
    return file;
  }

  private static void run(List<String> command) throws IOException {
    Process compiler;
    try {
      compiler = new ProcessBuilder(command).redirectErrorStream(true).start();
    } catch (IOException e) {
      assumeTrue(false, "no C compiler to make a library with: " + e.getMessage());
      throw e;
    }
    try (InputStream source = Objects.requireNonNull(DriverDouble.class.getResourceAsStream("ascendcl.c"));
        OutputStream in = compiler.getOutputStream()) {
      source.transferTo(in);
    }
    String said = new String(compiler.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    try {
      if (!compiler.waitFor(60, TimeUnit.SECONDS) || compiler.exitValue() != 0) {
        throw new AssertionError(command + ": " + said);
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  public String path() {
    return path.toString();
  }

  /// Resets everything; then there are `devices` devices.
  public DriverDouble reset(int devices, long bytesEach) {
    call("double_reset", FunctionDescriptor.ofVoid(JAVA_INT, JAVA_LONG), devices, bytesEach);
    return this;
  }

  /// From the nth call of `function` on, counted from 1, `times` calls answer `code` and do nothing.
  public void fail(String function, long nth, long times, int code, long failIndex) {
    with(function,
        name -> requireFound(function,
            (int) call("double_fail", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG,
                JAVA_INT, JAVA_LONG), name, nth, times, code, failIndex)));
  }

  void latency(String function, long nanos) {
    with(function, name -> requireFound(function,
        (int) call("double_latency", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG), name, nanos)));
  }

  private static Void requireFound(String function, int found) {
    if (found == 0) {
      throw new IllegalArgumentException("function must be one that is counted (was " + function + ")");
    }
    return null;
  }

  /// Calls of `function` wait while `hold` is on.
  public void hold(String function, boolean hold) {
    with(function, name -> requireFound(function,
        (int) call("double_hold", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT), name, hold ? 1 : 0)));
  }

  public void batchUnsupported(int device) {
    call("double_batch_unsupported", FunctionDescriptor.ofVoid(JAVA_INT, JAVA_INT), device, 1);
  }

  public long calls(String function) {
    return with(function, name -> (long) call("double_calls", FunctionDescriptor.of(JAVA_LONG, ADDRESS), name));
  }

  /// Elements copied so far by that method.
  public long copied(CopyMethod method) {
    int how = switch (method) {
      case SYNC -> 0;
      case ASYNC -> 1;
      case BATCH -> 2;
    };
    return (long) call("double_copied", FunctionDescriptor.of(JAVA_LONG, JAVA_INT), how);
  }

  /// Sides of copies, on streams and in batches, in memory that the driver does not know.
  public long strangers() {
    return (long) call("double_strangers", FunctionDescriptor.of(JAVA_LONG));
  }

  /// Regions, contexts and streams that are alive.
  record Alive(long regions, long contexts, long streams) {}

  Alive alive() {
    return new Alive(alive(0), alive(1), alive(2));
  }

  /// Handles on physical memory that are alive.
  long physicals() {
    return alive(3);
  }

  /// Bounds of physical memory: for all allocations, for pages of 1 GiB, for pages of a NUMA node.
  public void limits(long anyBytes, long hugeBytes, long nodeBytes) {
    call("double_limits", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_LONG), anyBytes, hugeBytes, nodeBytes);
  }

  private long alive(int what) {
    return (long) call("double_alive", FunctionDescriptor.of(JAVA_LONG, JAVA_INT), what);
  }

  /// What was called since the last reset, in order.
  List<Call> log() {
    List<Call> log = new ArrayList<>();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment call = arena.allocate(CALL);
      FunctionDescriptor signature = FunctionDescriptor.of(ADDRESS, JAVA_LONG, ADDRESS);
      for (MemorySegment name = next(signature, log, call); name.address() != 0; name = next(signature, log, call)) {
        log.add(new Call(name.reinterpret(256).getString(0), call.get(JAVA_INT, 4), call.get(JAVA_INT, 8),
            call.get(JAVA_INT, 12),
            call.get(JAVA_LONG, 16), call.get(JAVA_LONG, 24), call.get(JAVA_LONG, 32)));
      }
    }
    return log;
  }

  private MemorySegment next(FunctionDescriptor signature, List<Call> log, MemorySegment call) {
    return (MemorySegment) call("double_call", signature, (long) log.size(), call);
  }

  /// Whether calls are recorded for [#log].
  public void record(boolean on) {
    call("double_recording", FunctionDescriptor.ofVoid(JAVA_INT), on ? 1 : 0);
  }

  /// A function of the double for benchmarks.
  MethodHandle handle(String symbol, FunctionDescriptor signature) {
    return Linker.nativeLinker().downcallHandle(symbols.findOrThrow(symbol), signature);
  }

  private interface Named<T> {
    T call(MemorySegment name);
  }

  private static <T> T with(String function, Named<T> call) {
    try (Arena arena = Arena.ofConfined()) {
      return call.call(arena.allocateFrom(function));
    }
  }

  private Object call(String symbol, FunctionDescriptor signature, Object... arguments) {
    try {
      return handle(symbol, signature).invokeWithArguments(arguments);
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }
}
