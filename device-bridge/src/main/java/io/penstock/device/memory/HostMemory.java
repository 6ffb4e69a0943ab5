package io.penstock.device.memory;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Owned;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// One owner's handle on a piece of host memory, and how it came about. Closing gives it back the way that it came;
/// from then on no access goes through [#segment()].
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
  /// @param fallbacks what it was to be, in the order of trying
  /// @param release gives it back, once nobody gets at it through this any more; must not wait
  @SuppressWarnings("restricted") // only who has got the memory knows that it is there
  public static HostMemory at(long address, long bytes, MemoryKind kind, List<Fallback> fallbacks, Runnable release) {
    Arena arena = Arena.ofShared();
    return new HostMemory(MemorySegment.ofAddress(address).reinterpret(bytes, arena, null), arena, kind, fallbacks,
        release);
  }

  /// What the JDK allocates.
  static HostMemory ofJdk(long bytes, long alignment, List<Fallback> fallbacks, Runnable release) {
    Arena arena = Arena.ofShared();
    try {
      return new HostMemory(arena.allocate(bytes, alignment), arena, MemoryKind.of(MemoryRung.JDK), fallbacks, release);
    } catch (Throwable e) {
      arena.close();
      throw e;
    }
  }

  /// For all threads, until this is closed.
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

  /// Where it is from.
  public MemoryRung rung() {
    return kind.rung();
  }

  /// What it was to be and is not, in the order of trying.
  public List<Fallback> fallbacks() {
    return fallbacks;
  }

  /// Ends all access without giving the memory back: for those whose it is, and who take it back.
  ///
  /// @throws IllegalStateException if the system is just reading or writing it; it stays as it is then
  public synchronized void endAccess() {
    if (arena.scope().isAlive()) {
      arena.close();
    }
  }

  /// @throws IllegalStateException if the system is just reading or writing it; it stays as it is then
  @Override
  protected void free() {
    endAccess();
    release.run();
  }

  @Override
  public String toString() {
    return "%d bytes of host memory at %#x: %s".formatted(bytes(), address(), kind.rung().label());
  }
}
