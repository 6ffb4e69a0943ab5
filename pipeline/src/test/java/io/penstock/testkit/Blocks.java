package io.penstock.testkit;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockArena;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSpan;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.PrefixHasher;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.stream.LongStream;

/// Fixtures: small layouts, keys, and blocks whose bytes are a function of key and offset, so that any part can be
/// checked alone.
public final class Blocks {
  private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private Blocks() {}

  /// Two layers of two planes, 4 tokens × 2 heads × 4 elements of BF16: granules of 64 bytes, blocks of 256.
  public static BlockLayout smallLayout() {
    return BlockLayout.attention(2, 4, 2, 4, ElementType.BF16);
  }

  /// A space of [#smallLayout()].
  public static CacheSpace smallSpace() {
    return CacheSpace.of("fixture", smallLayout());
  }

  /// The key that `number` stands for in `space`.
  public static BlockKey key(CacheSpace space, long number) {
    return space.key(PrefixHasher.ofTraceId(number));
  }

  /// The keys of the numbers `from … to - 1`.
  public static List<BlockKey> keys(CacheSpace space, long from, long to) {
    return LongStream.range(from, to).mapToObj(number -> key(space, number)).toList();
  }

  /// The byte of `key`'s block at `offset`.
  public static byte byteAt(BlockKey key, long offset) {
    return (byte) (mixed(key, offset >>> 3) >>> ((offset & 7) << 3));
  }

  /// Writes into `target` the bytes that a block of `key` has from `offset` on.
  public static void fill(BlockKey key, long offset, MemorySegment target) {
    long done = 0;
    if ((offset & 7) == 0) {
      for (; done <= target.byteSize() - 8; done += 8) {
        target.set(WORD, done, mixed(key, (offset + done) >>> 3));
      }
    }
    for (; done < target.byteSize(); done++) {
      target.set(JAVA_BYTE, done, byteAt(key, offset + done));
    }
  }

  /// Writes and states `range` of `draft`.
  public static void produce(BlockDraft draft, GranuleRange range) {
    draft.write(range, memory -> fill(draft.key(), range.offset(draft.layout()), memory));
    draft.produced(range);
  }

  /// Writes and states all of `draft`.
  public static BlockDraft produce(BlockDraft draft) {
    produce(draft, GranuleRange.all(draft.layout()));
    return draft;
  }

  /// Claims, writes and seals the block of `key`; the caller closes it.
  public static Block block(BlockArena arena, BlockKey key) {
    List<BlockDraft> drafts = requireNonNull(arena.tryClaim(List.of(key)), "arena is full");
    return produce(drafts.getFirst()).seal();
  }

  /// Claims a draft for `key`; the caller seals or closes it.
  public static BlockDraft draft(BlockArena arena, BlockKey key) {
    return requireNonNull(arena.tryClaim(List.of(key)), "arena is full").getFirst();
  }

  /// Regenerates every byte of `block` and compares.
  public static void assertBytes(Block block) {
    block.read(memory -> assertBytes(block.key(), 0, memory));
  }

  /// Regenerates every byte of `span` and compares.
  public static void assertBytes(LayerSpan span) {
    span.read(memory -> assertBytes(span.key(), span.range().offset(span.layout()), memory));
  }

  /// Compares `memory` with the bytes that a block of `key` has from `offset` on.
  public static MemorySegment assertBytes(BlockKey key, long offset, MemorySegment memory) {
    long same = (offset & 7) == 0 ? sameWords(key, offset, memory) : 0;
    for (long i = same; i < memory.byteSize(); i++) {
      if (memory.get(JAVA_BYTE, i) != byteAt(key, offset + i)) {
        throw new AssertionError("byte %d of %s must be %d (was %d)".formatted(
            offset + i, key, byteAt(key, offset + i), memory.get(JAVA_BYTE, i)));
      }
    }
    return memory;
  }

  /// The length of the whole words at the start of `memory` that are those of `key`'s block at `offset`.
  private static long sameWords(BlockKey key, long offset, MemorySegment memory) {
    long same = 0;
    while (same <= memory.byteSize() - 8 && memory.get(WORD, same) == mixed(key, (offset + same) >>> 3)) {
      same += 8;
    }
    return same;
  }

  /// Flips one bit in the memory of `block`, behind its back, as failing memory would.
  @SuppressWarnings("restricted")
  public static void corrupt(Block block, long offset) {
    block.read(memory -> {
      MemorySegment writable = MemorySegment.ofAddress(memory.address()).reinterpret(memory.byteSize());
      writable.set(JAVA_BYTE, offset, (byte) (writable.get(JAVA_BYTE, offset) ^ 1));
      return offset;
    });
  }

  /// A word of pseudo-random bits: SplitMix64 over the key's hash and the number of the word.
  private static long mixed(BlockKey key, long word) {
    BlockHash hash = key.hash();
    long z = (hash.low() ^ key.space().low()) + (word + 1) * 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
