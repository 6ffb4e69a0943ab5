package io.penstock.device.memory;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.penstock.device.system.CLibrary;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/// The system's own calls, through the C library.
final class LinuxCalls implements SystemCalls {
  private static final int PREFERRED = 1;
  private static final long MOST_NODES = 1024;
  /// The C library has no function for `mbind`.
  private static final Map<String, Long> BIND = Map.of("amd64", 237L, "x86_64", 237L, "aarch64", 235L);

  private final long bindNumber;
  private final MethodHandle lock = CLibrary.bind("mlock", JAVA_INT, JAVA_LONG, JAVA_LONG);
  private final MethodHandle system =
      CLibrary.bind("syscall", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG);
  private final MethodHandle page = CLibrary.bind("getpagesize", JAVA_INT);
  private final long pageBytes;

  private LinuxCalls(long bindNumber) {
    this.bindNumber = bindNumber;
    this.pageBytes = CLibrary.call(state -> (int) page.invokeExact(state));
  }

  /// Empty on systems and machines whose numbers are not known.
  static Optional<SystemCalls> find() {
    Long bind = BIND.get(System.getProperty("os.arch").toLowerCase(Locale.ROOT));
    return bind == null || !System.getProperty("os.name").equals("Linux")
        ? Optional.empty()
        : Optional.of(new LinuxCalls(bind));
  }

  @Override
  public long map(long bytes, int flags) {
    return CLibrary.map(bytes, CLibrary.MAP_PRIVATE_ANONYMOUS | flags, -1);
  }

  @Override
  public long unmap(long address, long bytes) {
    return CLibrary.unmap(address, bytes);
  }

  @Override
  public long advise(long address, long bytes, int advice) {
    return CLibrary.advise(address, bytes, advice);
  }

  @Override
  public long lock(long address, long bytes) {
    return CLibrary.call(state -> (int) lock.invokeExact(state, address, bytes));
  }

  @Override
  public long bind(long address, long bytes, MemorySegment nodes) {
    // the system reads one bit less than it is told
    return CLibrary.call(state -> (long) system.invokeExact(state, bindNumber, address, bytes, (long) PREFERRED, nodes,
        MOST_NODES + 1, 0L));
  }

  @Override
  public long pageBytes() {
    return pageBytes;
  }
}
