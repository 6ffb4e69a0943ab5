package io.penstock.device.memory;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Owned;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// A handle of one owner on a piece of host memory. Closing it frees the memory; after that [#segment()] allows no
/// access.
public final class HostMemory extends Owned {
  private final MemorySegment segment;
  private final Arena arena;
  private final MemoryKind kind;
  private final List<Fallback> fallbacks;
  private final Runnable release;

  private HostMemory(MemorySegment segment, Arena arena, MemoryKind kind, List<Fallback> fallbacks, Runnable release) {
    this.segment = segment;
    this.arena = arena;
    this.kind = requireNonNull(kind, "kind");
    this.fallbacks = List.copyOf(fallbacks);
    this.release = requireNonNull(release, "release");
  }

  /// Takes over memory of the system or a driver.
  ///
  /// @param kind of the memory
  /// @param fallbacks wishes that were not met, in order
  /// @param release frees the memory, once this handle allows no more access; must not wait
  @SuppressWarnings("restricted") // the caller guarantees the memory
  public static HostMemory at(long address, long bytes, MemoryKind kind, List<Fallback> fallbacks, Runnable release) {
    Arena arena = Arena.ofShared();
    return new HostMemory(MemorySegment.ofAddress(address).reinterpret(bytes, arena, null), arena, kind, fallbacks,
        release);
  }

  /// Memory that the JDK allocates.
  static HostMemory ofJdk(long bytes, long alignment, List<Fallback> fallbacks, Runnable release) {
    Arena arena = Arena.ofShared();
    try {
      return new HostMemory(arena.allocate(bytes, alignment), arena, MemoryKind.of(PageKind.JDK), fallbacks, release);
    } catch (Throwable e) {
      arena.close();
      throw e;
    }
  }

  /// The memory, for all threads, until this is closed.
  public MemorySegment segment() {
    return segment;
  }

  public long address() {
    return segment.address();
  }

  public long bytes() {
    return segment.byteSize();
  }

  public MemoryKind kind() {
    return kind;
  }

  /// Kind of its pages.
  public PageKind pages() {
    return kind.pages();
  }

  /// Wishes that were not met, in order.
  public List<Fallback> fallbacks() {
    return fallbacks;
  }

  /// Ends all access without freeing the memory: for an owner that takes it back.
  ///
  /// @throws IllegalStateException if the system is reading or writing it now; nothing changes then
  public synchronized void endAccess() {
    if (arena.scope().isAlive()) {
      arena.close();
    }
  }

  /// @throws IllegalStateException if the system is reading or writing it now; nothing changes then
  @Override
  protected void free() {
    endAccess();
    release.run();
  }

  @Override
  public String toString() {
    return "%d bytes of host memory at %#x: %s".formatted(bytes(), address(), kind.pages().label());
  }
}
