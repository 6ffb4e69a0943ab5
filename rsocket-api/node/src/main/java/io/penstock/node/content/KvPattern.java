package io.penstock.node.content;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.GranuleRange;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// The bytes of a block as a function of its key, the layer and the position: made in one place, made again and
/// compared in another.
///
/// Position *i* of a layer is byte `i mod 8`, little-endian, of word `i / 8`; a word is `w ^ (w >>> 29)` with `w =
/// seed(key, layer) + (i / 8) × STEP`, modulo 2⁶⁴. Words differ between positions, layers and keys, so that moved,
/// stale and mixed-up bytes are found as surely as flipped ones. One addition, one shift and one store a word: as fast
/// as memory.
///
/// Stateless; safe from any thread; nothing on the heap.
public final class KvPattern {
  private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final long STEP = 0x9E3779B97F4A7C15L;
  private static final int SHIFT = 29;

  private KvPattern() {}

  /// Writes the bytes of `range` of the block `key` into `to`, which is that long.
  public static void fill(BlockKey key, BlockLayout layout, GranuleRange range, MemorySegment to) {
    int layerBytes = layout.layerBytes();
    int start = range.offset(layout);
    int end = start + range.bytes(layout);
    for (int from = start; from < end;) {
      int layer = from / layerBytes;
      int until = Math.min(end, (layer + 1) * layerBytes);
      fillLayer(seed(key, layer), from - layer * layerBytes, until - from, to, from - start);
      from = until;
    }
  }

  /// Compares `bytes` with what `range` of the block `key` must be: offset in `bytes` of the first word that differs,
  /// or -1.
  public static int mismatch(BlockKey key, BlockLayout layout, GranuleRange range, MemorySegment bytes) {
    int layerBytes = layout.layerBytes();
    int start = range.offset(layout);
    int end = start + range.bytes(layout);
    for (int from = start; from < end;) {
      int layer = from / layerBytes;
      int until = Math.min(end, (layer + 1) * layerBytes);
      int differs = mismatchLayer(seed(key, layer), from - layer * layerBytes, until - from, bytes, from - start);
      if (differs >= 0) {
        return differs;
      }
      from = until;
    }
    return -1;
  }

  private static long seed(BlockKey key, int layer) {
    long seed = mixed(key.space().high() ^ Long.rotateLeft(key.space().low(), 17));
    seed = mixed(seed ^ key.hash().high());
    seed = mixed(seed ^ key.hash().low());
    return mixed(seed + layer);
  }

  /// The finaliser of SplitMix64: every bit of the result depends on every bit of `value`.
  private static long mixed(long value) {
    long z = value + STEP;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  private static long word(long seed, int index) {
    long w = seed + index * STEP;
    return w ^ (w >>> SHIFT);
  }

  private static byte at(long seed, int position) {
    return (byte) (word(seed, position >>> 3) >>> ((position & 7) << 3));
  }

  private static void fillLayer(long seed, int position, int bytes, MemorySegment to, int offset) {
    int done = 0;
    for (; done < bytes && ((position + done) & 7) != 0; done++) {
      to.set(ValueLayout.JAVA_BYTE, offset + done, at(seed, position + done));
    }
    int words = (bytes - done) >>> 3;
    fillWords(seed + ((position + done) >>> 3) * STEP, words, to, offset + done);
    for (done += words << 3; done < bytes; done++) {
      to.set(ValueLayout.JAVA_BYTE, offset + done, at(seed, position + done));
    }
  }

  private static void fillWords(long firstState, int words, MemorySegment to, int offset) {
    long w = firstState;
    int at = offset;
    int i = 0;
    for (; i + 4 <= words; i += 4, at += 32) {
      long w1 = w + STEP;
      long w2 = w1 + STEP;
      long w3 = w2 + STEP;
      to.set(WORD, at, w ^ (w >>> SHIFT));
      to.set(WORD, at + 8, w1 ^ (w1 >>> SHIFT));
      to.set(WORD, at + 16, w2 ^ (w2 >>> SHIFT));
      to.set(WORD, at + 24, w3 ^ (w3 >>> SHIFT));
      w = w3 + STEP;
    }
    for (; i < words; i++, at += 8, w += STEP) {
      to.set(WORD, at, w ^ (w >>> SHIFT));
    }
  }

  private static int mismatchLayer(long seed, int position, int bytes, MemorySegment of, int offset) {
    int done = 0;
    for (; done < bytes && ((position + done) & 7) != 0; done++) {
      if (of.get(ValueLayout.JAVA_BYTE, offset + done) != at(seed, position + done)) {
        return offset + done;
      }
    }
    int words = (bytes - done) >>> 3;
    if (!equalWords(seed + ((position + done) >>> 3) * STEP, words, of, offset + done)) {
      return firstDifference(seed, position + done, words, of, offset + done);
    }
    for (done += words << 3; done < bytes; done++) {
      if (of.get(ValueLayout.JAVA_BYTE, offset + done) != at(seed, position + done)) {
        return offset + done;
      }
    }
    return -1;
  }

  private static boolean equalWords(long firstState, int words, MemorySegment of, int offset) {
    long w = firstState;
    long differences = 0;
    int at = offset;
    int i = 0;
    for (; i + 4 <= words; i += 4, at += 32) {
      long w1 = w + STEP;
      long w2 = w1 + STEP;
      long w3 = w2 + STEP;
      long d0 = of.get(WORD, at) ^ w ^ (w >>> SHIFT);
      long d1 = of.get(WORD, at + 8) ^ w1 ^ (w1 >>> SHIFT);
      long d2 = of.get(WORD, at + 16) ^ w2 ^ (w2 >>> SHIFT);
      long d3 = of.get(WORD, at + 24) ^ w3 ^ (w3 >>> SHIFT);
      differences |= (d0 | d1) | (d2 | d3);
      w = w3 + STEP;
    }
    for (; i < words; i++, at += 8, w += STEP) {
      differences |= of.get(WORD, at) ^ w ^ (w >>> SHIFT);
    }
    return differences == 0;
  }

  private static int firstDifference(long seed, int position, int words, MemorySegment of, int offset) {
    for (int i = 0; i < words; i++) {
      if (of.get(WORD, offset + (i << 3)) != word(seed, (position >>> 3) + i)) {
        return offset + (i << 3);
      }
    }
    return -1;
  }
}
