package io.penstock.device.memory;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockScope;
import io.penstock.check.Checks;
import io.penstock.system.NativeMemory;
import io.penstock.system.SharedRegion;
import io.penstock.system.SystemCallException;
import io.penstock.system.SystemPages;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.Logger;
import reactor.util.Loggers;

/// Host memory that the system maps: huge pages that were set aside, of 1 GiB, then of 2 MiB; then addresses at a
/// multiple of 2 MiB with the advice to make large pages; then plain pages. Without native calls it is the JDK's
/// memory, with a [Fallback].
///
/// Huge pages and locked pages are made before the memory is lent: a missing page is a refusal then, and would be the
/// end of the process later. For the same reason NUMA nodes are preferred, not demanded.
public final class MappedMemory implements HostMemorySource {
  private static final Logger LOG = Loggers.getLogger(MappedMemory.class);
  private static final long ADVISED_BYTES = PageKind.ADVISED_2M.unitBytes();

  private final MappedOptions options;
  private final MemoryListener listener;
  private final @Nullable NativeMemory calls;
  private final SystemPages pages;

  public MappedMemory(MappedOptions options, MemoryListener listener) {
    this(options, listener, NativeMemory.absence().isEmpty() ? NativeMemory.ofSystem() : null, SystemPages.ofSystem());
  }

  MappedMemory(MappedOptions options, MemoryListener listener, @Nullable NativeMemory calls, SystemPages pages) {
    this.options = requireNonNull(options, "options");
    this.listener = requireNonNull(listener, "listener");
    this.calls = calls;
    this.pages = pages;
  }

  /// NUMA nodes of this machine; empty where the system does not list them.
  public static List<Integer> nodes() {
    return SystemPages.ofSystem().nodes();
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

  /// Allocates without a `Mono`.
  ///
  /// @throws HostMemoryRefusedException if no kind of pages is available
  public HostMemory map(long bytes) {
    Checks.positive("bytes", bytes);
    List<Fallback> tried = new ArrayList<>();
    HostMemory memory = calls == null ? ofJdk(bytes, tried) : mapped(calls, bytes, tried);
    if (memory == null) {
      throw new HostMemoryRefusedException(name(), bytes, tried);
    }
    listener.taken(memory.kind(), memory.pages().rounded(bytes));
    memory.fallbacks().forEach(fallback -> listener.fellBack(name(), fallback));
    return memory;
  }

  private List<PageKind> kinds() {
    return switch (options.pages()) {
      case AUTO -> List.of(PageKind.PAGES_1G, PageKind.PAGES_2M, PageKind.ADVISED_2M, PageKind.PLAIN);
      case HUGE -> List.of(PageKind.PAGES_1G, PageKind.PAGES_2M);
      case PLAIN -> List.of(PageKind.PLAIN);
      case SHARED -> List.of(PageKind.SHARED, PageKind.PLAIN);
    };
  }

  private @Nullable HostMemory ofJdk(long bytes, List<Fallback> tried) {
    String reason = NativeMemory.absence().orElse("the calls of this system are not known");
    kinds().forEach(kind -> tried.add(new Fallback(kind.label(), reason)));
    if (options.pages() == MemoryPages.HUGE) {
      return null;
    }
    try {
      return HostMemory.ofJdk(bytes, ADVISED_BYTES, tried,
          () -> listener.givenBack(MemoryKind.of(PageKind.JDK), bytes));
    } catch (OutOfMemoryError e) {
      tried.add(new Fallback(PageKind.JDK.label(), String.valueOf(e.getMessage())));
      return null;
    }
  }

  private @Nullable HostMemory mapped(NativeMemory calls, long bytes, List<Fallback> tried) {
    for (PageKind kind : kinds()) {
      String refusal = refusalBefore(kind, bytes);
      HostMemory memory = refusal != null
          ? null
          : kind == PageKind.SHARED ? shared(calls, bytes, tried) : mapped(calls, kind, bytes, tried);
      if (memory != null) {
        return memory;
      }
      if (refusal != null) {
        tried.add(new Fallback(kind.label(), refusal));
      }
    }
    return null;
  }

  private @Nullable String refusalBefore(PageKind kind, long bytes) {
    if (kind.isWasteful(bytes)) {
      return Fallback.WASTEFUL;
    }
    if (kind == PageKind.ADVISED_2M) {
      return pages.takesAdvice() ? null : "the system takes no advice on pages";
    }
    if (kind == PageKind.PLAIN || kind == PageKind.SHARED) {
      return null;
    }
    long free = pages.free(kind.unitBytes());
    long needed = kind.rounded(bytes) / kind.unitBytes();
    return free >= needed ? null : "%d must be free (was %d)".formatted(needed, free);
  }

  private @Nullable HostMemory shared(NativeMemory calls, long bytes, List<Fallback> tried) {
    List<Fallback> fallbacks = new ArrayList<>(tried);
    try {
      SharedRegion region = SharedRegion.create(SharedRegion.Kind.BLOCKS, "node", bytes);
      long address = region.memory().address();
      OptionalInt node = preferred(calls, address, bytes, fallbacks);
      MemoryKind made =
          new MemoryKind(PageKind.SHARED, node, options.lock() && isLocked(calls, address, bytes, fallbacks));
      return HostMemory.at(address, bytes, made, fallbacks, () -> {
        region.close();
        listener.givenBack(made, bytes);
      });
    } catch (SystemCallException e) {
      tried.add(new Fallback(PageKind.SHARED.label(), String.valueOf(e.getMessage())));
      return null;
    }
  }

  private @Nullable HostMemory mapped(NativeMemory calls, PageKind kind, long bytes, List<Fallback> tried) {
    long size =
        kind == PageKind.PLAIN ? Math.ceilDiv(bytes, calls.pageBytes()) * calls.pageBytes() : kind.rounded(bytes);
    List<Fallback> fallbacks = new ArrayList<>(tried);
    try {
      long address = address(calls, kind, size);
      OptionalInt node = preferred(calls, address, size, fallbacks);
      populate(calls, kind, address, size);
      MemoryKind made = new MemoryKind(kind, node, options.lock() && isLocked(calls, address, size, fallbacks));
      return HostMemory.at(address, bytes, made, fallbacks, () -> {
        unmap(calls, address, size);
        listener.givenBack(made, kind.rounded(bytes));
      });
    } catch (SystemCallException e) {
      tried.add(new Fallback(kind.label(), String.valueOf(e.getMessage())));
      return null;
    }
  }

  private static long address(NativeMemory calls, PageKind kind, long bytes) throws SystemCallException {
    return switch (kind) {
      case PLAIN -> calls.map(bytes);
      case ADVISED_2M -> calls.mapAligned(bytes, ADVISED_BYTES);
      default -> calls.mapHuge(bytes, kind.unitBytes());
    };
  }

  private static boolean isLocked(NativeMemory calls, long address, long bytes, List<Fallback> fallbacks) {
    try {
      calls.lock(address, bytes);
      return true;
    } catch (SystemCallException e) {
      fallbacks.add(new Fallback("locked memory", String.valueOf(e.getMessage())));
      return false;
    }
  }

  /// The wanted node if the system accepts it.
  private OptionalInt preferred(NativeMemory calls, long address, long bytes, List<Fallback> fallbacks) {
    if (options.node().isEmpty()) {
      return OptionalInt.empty();
    }
    int node = options.node().getAsInt();
    String refusal = pages.hasNode(node) ? refusalOf(calls, address, bytes, node) : "there is no such node";
    if (refusal == null) {
      return options.node();
    }
    fallbacks.add(new Fallback("memory of node " + node, refusal));
    return OptionalInt.empty();
  }

  private static @Nullable String refusalOf(NativeMemory calls, long address, long bytes, int node) {
    try {
      calls.prefer(address, bytes, node);
      return null;
    } catch (SystemCallException e) {
      return String.valueOf(e.getMessage());
    }
  }

  /// Makes pages of `kind`, or unmaps the memory where the system cannot.
  private static void populate(NativeMemory calls, PageKind kind, long address, long bytes)
      throws SystemCallException {
    if (kind == PageKind.PLAIN) {
      return;
    }
    boolean advised = kind == PageKind.ADVISED_2M;
    try {
      calls.advise(address, bytes, advised ? NativeMemory.Advice.LARGE_PAGES : NativeMemory.Advice.POPULATE_WRITE);
    } catch (SystemCallException e) {
      // Linux before 5.14 cannot populate; the mapping has promised the pages, at least
      if (advised || e.errno() != SystemCallException.EINVAL) {
        unmap(calls, address, bytes);
        throw e;
      }
    }
  }

  private static void unmap(NativeMemory calls, long address, long bytes) {
    try {
      calls.unmap(address, bytes);
    } catch (SystemCallException e) { // the memory stays mapped, unused
      LOG.warn("memory stays mapped: {}", e.getMessage());
    }
  }

  @Override
  public String toString() {
    return name() + ": " + options;
  }
}
