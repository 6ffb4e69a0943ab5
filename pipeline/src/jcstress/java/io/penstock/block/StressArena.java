package io.penstock.block;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena.ChunkSource;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// An arena on memory of the heap, of which a stress test can make millions, and which knows when its memory was given
/// back.
final class StressArena implements ChunkSource {
  static final BlockLayout LAYOUT = BlockLayout.attention(1, 1, 1, 1, ElementType.BF16);
  static final GranuleRange ALL = GranuleRange.all(LAYOUT);
  private static final List<BlockKey> ONE = List.of(CacheSpace.of("stress", LAYOUT).key(PrefixHasher.ofTraceId(1)));

  final SlabArena arena;
  volatile boolean isFreed;

  StressArena(int slots) {
    arena = new SlabArena("stress", LAYOUT, slots, 1, this);
  }

  @Override
  public MemorySegment chunk(long bytes) {
    return MemorySegment.ofArray(new byte[(int) bytes]);
  }

  @Override
  public void close() {
    isFreed = true;
  }

  /// Null if all slots are lent.
  @Nullable BlockDraft claim() {
    List<BlockDraft> drafts = arena.tryClaim(ONE);
    return drafts == null ? null : drafts.getFirst();
  }

  /// A complete draft, all of whose bytes are `value`.
  BlockDraft written(int value) {
    BlockDraft draft = claim();
    if (draft == null) {
      throw new IllegalStateException("slots free must be > 0 (was 0)");
    }
    write(draft, value);
    draft.produced(ALL);
    return draft;
  }

  static void write(BlockDraft draft, int value) {
    draft.write(ALL, memory -> memory.fill((byte) value));
  }

  /// The first byte, or −2 if another byte differs.
  static int value(MemorySegment memory) {
    byte value = memory.get(JAVA_BYTE, 0);
    for (long i = 1; i < memory.byteSize(); i++) {
      if (memory.get(JAVA_BYTE, i) != value) {
        return -2;
      }
    }
    return value;
  }

  int claimed() {
    return (int) arena.claimedSlots();
  }
}
