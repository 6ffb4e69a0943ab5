package io.penstock.device.memory;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockScope;
import io.penstock.block.Checks;
import io.penstock.device.system.CLibrary;
import io.penstock.device.system.Errno;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.Logger;
import reactor.util.Loggers;

/// Host memory that the system maps: of pages that were set aside, 1 GiB, then 2 MiB; of addresses at a multiple of 2
/// MiB where large pages are advised; of plain pages. Where the system's calls are not known it is the JDK's, and a
/// [Fallback] says so.
///
/// Pages that were set aside are made before the memory is handed out, as are those that are locked: a page that is
/// missing is a refusal then, and the end of the process later. NUMA nodes are preferred, not demanded, for the same
/// reason.
public final class MappedMemory implements HostMemorySource {
  private static final Logger LOG = Loggers.getLogger(MappedMemory.class);
  private static final long ADVISED_BYTES = MemoryRung.ADVISED_2M.unitBytes();
  private static final int HUGE_PAGES = 0x40000;
  private static final int PAGE_SHIFT_AT = 26;
  private static final int ADVISE_LARGE = 14;

  private final MappedOptions options;
  private final MemoryListener listener;
  private final @Nullable SystemCalls calls;
  private final SystemPages pages;

  public MappedMemory(MappedOptions options, MemoryListener listener) {
    this(options, listener, LinuxCalls.find().orElse(null), new SystemPages(Path.of("/sys")));
  }

  MappedMemory(MappedOptions options, MemoryListener listener, @Nullable SystemCalls calls, SystemPages pages) {
    this.options = requireNonNull(options, "options");
    this.listener = requireNonNull(listener, "listener");
    this.calls = calls;
    this.pages = pages;
  }

  /// NUMA nodes of this machine; none where the system does not tell them.
  public static List<Integer> nodes() {
    return new SystemPages(Path.of("/sys")).nodes();
  }

  @Override
  public String name() {
    return "mapped memory";
  }

  @Override
  public Mono<HostMemory> allocate(long bytes, BlockScope scope) {
    requireNonNull(scope, "scope");
    Checks.positive("bytes", bytes);
    return Mono.fromCallable(() -> scope.adopt(map(bytes)));
  }

  /// The same at once.
  ///
  /// @throws HostMemoryRefusedException if no rung gives it
  public HostMemory map(long bytes) {
    Checks.positive("bytes", bytes);
    List<Fallback> tried = new ArrayList<>();
    HostMemory memory = calls == null ? ofJdk(bytes, tried) : mapped(calls, bytes, tried);
    if (memory == null) {
      throw new HostMemoryRefusedException(name(), bytes, tried);
    }
    listener.taken(memory.kind(), memory.rung().rounded(bytes));
    memory.fallbacks().forEach(fallback -> listener.fellBack(name(), fallback));
    return memory;
  }

  private List<MemoryRung> rungs() {
    return switch (options.pages()) {
      case AUTO -> List.of(MemoryRung.PAGES_1G, MemoryRung.PAGES_2M, MemoryRung.ADVISED_2M, MemoryRung.PLAIN);
      case HUGE -> List.of(MemoryRung.PAGES_1G, MemoryRung.PAGES_2M);
      case PLAIN -> List.of(MemoryRung.PLAIN);
    };
  }

  private @Nullable HostMemory ofJdk(long bytes, List<Fallback> tried) {
    String reason =
        "the calls of " + System.getProperty("os.name") + " on " + System.getProperty("os.arch") + " are not known";
    rungs().forEach(rung -> tried.add(new Fallback(rung.label(), reason)));
    if (options.pages() == MemoryPages.HUGE) {
      return null;
    }
    try {
      return HostMemory.ofJdk(bytes, ADVISED_BYTES, tried,
          () -> listener.givenBack(MemoryKind.of(MemoryRung.JDK), bytes));
    } catch (OutOfMemoryError e) {
      tried.add(new Fallback(MemoryRung.JDK.label(), String.valueOf(e.getMessage())));
      return null;
    }
  }

  private @Nullable HostMemory mapped(SystemCalls calls, long bytes, List<Fallback> tried) {
    for (MemoryRung rung : rungs()) {
      String refusal = refusalBefore(rung, bytes);
      HostMemory memory = refusal == null ? mapped(calls, rung, bytes, tried) : null;
      if (memory != null) {
        return memory;
      }
      if (refusal != null) {
        tried.add(new Fallback(rung.label(), refusal));
      }
    }
    return null;
  }

  private @Nullable String refusalBefore(MemoryRung rung, long bytes) {
    if (rung.isWasteful(bytes)) {
      return Fallback.WASTEFUL;
    }
    if (rung == MemoryRung.ADVISED_2M) {
      return pages.takesAdvice() ? null : "the system takes no advice on pages";
    }
    if (rung == MemoryRung.PLAIN) {
      return null;
    }
    long free = pages.free(rung.unitBytes());
    long needed = rung.rounded(bytes) / rung.unitBytes();
    return free >= needed ? null : "%d must be free (was %d)".formatted(needed, free);
  }

  private @Nullable HostMemory mapped(SystemCalls calls, MemoryRung rung, long bytes, List<Fallback> tried) {
    long size =
        rung == MemoryRung.PLAIN ? Math.ceilDiv(bytes, calls.pageBytes()) * calls.pageBytes() : rung.rounded(bytes);
    long address = rung == MemoryRung.ADVISED_2M ? aligned(calls, size) : calls.map(size, flags(rung));
    if (address < 0) {
      tried.add(new Fallback(rung.label(), Errno.text("mmap", address)));
      return null;
    }
    List<Fallback> fallbacks = new ArrayList<>(tried);
    OptionalInt node = preferred(calls, address, size, fallbacks);
    String refusal = made(calls, rung, address, size);
    if (refusal != null) {
      unmap(calls, address, size);
      tried.add(new Fallback(rung.label(), refusal));
      return null;
    }
    MemoryKind kind = new MemoryKind(rung, node, options.lock() && isLocked(calls, address, size, fallbacks));
    return HostMemory.at(address, bytes, kind, fallbacks, () -> {
      unmap(calls, address, size);
      listener.givenBack(kind, rung.rounded(bytes));
    });
  }

  private static boolean isLocked(SystemCalls calls, long address, long bytes, List<Fallback> fallbacks) {
    long locked = calls.lock(address, bytes);
    if (locked < 0) {
      fallbacks.add(new Fallback("locked memory", Errno.text("mlock", locked)));
    }
    return locked >= 0;
  }

  private static int flags(MemoryRung rung) {
    return rung == MemoryRung.PLAIN ? 0 : HUGE_PAGES | Long.numberOfTrailingZeros(rung.unitBytes()) << PAGE_SHIFT_AT;
  }

  /// More than was asked for, and what is before and behind it given back.
  private static long aligned(SystemCalls calls, long bytes) {
    long address = calls.map(bytes + ADVISED_BYTES, 0);
    if (address < 0) {
      return address;
    }
    long begin = Math.ceilDiv(address, ADVISED_BYTES) * ADVISED_BYTES;
    if (begin > address) {
      unmap(calls, address, begin - address);
    }
    if (begin < address + ADVISED_BYTES) {
      unmap(calls, begin + bytes, address + ADVISED_BYTES - begin);
    }
    return begin;
  }

  /// The node that was asked for, if the system has heard it.
  private OptionalInt preferred(SystemCalls calls, long address, long bytes, List<Fallback> fallbacks) {
    if (options.node().isEmpty()) {
      return OptionalInt.empty();
    }
    int node = options.node().getAsInt();
    String wanted = "memory of node " + node;
    if (!pages.hasNode(node)) {
      fallbacks.add(new Fallback(wanted, "there is no such node"));
      return OptionalInt.empty();
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment nodes = arena.allocate(MappedOptions.MOST_NODES / Byte.SIZE, JAVA_LONG.byteAlignment());
      nodes.setAtIndex(JAVA_LONG, node / Long.SIZE, 1L << node % Long.SIZE);
      long bound = calls.bind(address, bytes, nodes);
      if (bound < 0) {
        fallbacks.add(new Fallback(wanted, Errno.text("mbind", bound)));
      }
      return bound < 0 ? OptionalInt.empty() : options.node();
    }
  }

  /// Why `rung` does not give its pages after all, or null.
  private static @Nullable String made(SystemCalls calls, MemoryRung rung, long address, long bytes) {
    if (rung == MemoryRung.PLAIN) {
      return null;
    }
    boolean advised = rung == MemoryRung.ADVISED_2M;
    long answer = calls.advise(address, bytes, advised ? ADVISE_LARGE : CLibrary.POPULATE_WRITE);
    // Before 5.14; the pages are promised by the mapping, at least
    boolean isOldSystem = !advised && answer == -Errno.EINVAL;
    return answer < 0 && !isOldSystem ? Errno.text("madvise", answer) : null;
  }

  private static void unmap(SystemCalls calls, long address, long bytes) {
    long answer = calls.unmap(address, bytes);
    if (answer < 0) { // nobody can do more, and nobody uses it
      LOG.warn("%d bytes at %#x stay mapped: %s".formatted(bytes, address, Errno.text("munmap", answer)));
    }
  }

  @Override
  public String toString() {
    return name() + ": " + options;
  }
}
