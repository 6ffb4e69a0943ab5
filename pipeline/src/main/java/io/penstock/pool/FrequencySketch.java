package io.penstock.pool;

import io.penstock.block.BlockKey;
import java.util.BitSet;

/// Estimates how often keys were used lately: a count-min sketch of four rows of 4-bit counters. All counters are
/// halved after eight uses for each expected key. An estimate is at least the number of uses since the last halving, up
/// to 15, and seldom more.
///
/// The sketch is the frequency filter of TinyLFU (Einziger, Friedman and Manes, ACM Transactions on Storage 13, 2017)
/// over a count-min sketch (Cormode and Muthukrishnan, Journal of Algorithms 55, 2005). It departs from TinyLFU in two
/// ways. It has no doorkeeper and adds to all four counters, not only to the least, so a key that shares counters is
/// estimated higher. The reset does not halve all counters at once: a counter is halved when it is read, and each use
/// halves a few more, so that no use waits for all counters.
///
/// Memory is fixed: two to four bytes for each expected key, as a row is a power of two. Pure; not thread-safe, not
/// even for reads: the owner guards it.
public final class FrequencySketch {
  /// Highest value of a counter.
  public static final int MOST = 15;

  private static final int ROWS = 4;
  private static final int COUNTERS_A_WORD = 16;
  private static final int USES_A_KEY = 8;
  /// Words halved with each use, at least, so that all are halved long before the next halving.
  private static final int WORDS_A_USE = 8;
  private static final int MOST_KEYS = 1 << 28;
  private static final long LOW_BITS = 0x7777777777777777L;
  private static final long[] SEEDS =
      {0x9E3779B97F4A7C15L, 0xC2B2AE3D27D4EB4FL, 0x165667B19E3779F9L, 0xD6E8FEB86659FD93L};

  private final long[] words;
  /// One bit a word; it equals `side` if the last halving has reached the word.
  private final BitSet sides;
  private boolean side;
  /// Index of the next word to halve: the words before it were halved.
  private int next;
  /// Counters of a row, a power of two, less one.
  private final int mask;
  private final long window;
  private long counted;

  /// @param expectedKeys distinct keys among which to find the frequently used ones, in `(0, 2^28]`
  public FrequencySketch(long expectedKeys) {
    if (expectedKeys <= 0 || expectedKeys > MOST_KEYS) {
      throw new IllegalArgumentException("expectedKeys must be in (0, " + MOST_KEYS + "] (was " + expectedKeys + ")");
    }
    int row = Math.max(COUNTERS_A_WORD, Integer.highestOneBit(Math.max(1, (int) expectedKeys - 1)) << 1);
    this.mask = row - 1;
    this.words = new long[ROWS * (row / COUNTERS_A_WORD)];
    this.sides = new BitSet(words.length);
    this.next = words.length;
    this.window = USES_A_KEY * Math.max(COUNTERS_A_WORD, expectedKeys);
  }

  /// Counts a use of `key`.
  ///
  /// @return the estimate after it
  public int use(BlockKey key) {
    int least = MOST;
    for (int row = 0; row < ROWS; row++) {
      least = Math.min(least, add(place(row, key)));
    }
    halve(WORDS_A_USE);
    if (++counted == window) {
      halve(words.length);
      side = !side;
      next = 0;
      counted = window / 2;
    }
    return least;
  }

  /// Estimated number of recent uses of `key`.
  public int estimate(BlockKey key) {
    int least = MOST;
    for (int row = 0; row < ROWS; row++) {
      least = Math.min(least, at(place(row, key)));
    }
    return least;
  }

  private void halve(int most) {
    int end = (int) Math.min(words.length, (long) next + most);
    while (next < end) {
      word(next++);
    }
  }

  private long word(int i) {
    if (sides.get(i) != side) {
      sides.set(i, side);
      words[i] = (words[i] >>> 1) & LOW_BITS;
    }
    return words[i];
  }

  private int place(int row, BlockKey key) {
    long mixed = (key.hash().low() ^ Long.rotateLeft(key.hash().high(), 32)) * SEEDS[row];
    mixed ^= mixed >>> 32;
    return row * (mask + 1) + ((int) mixed & mask);
  }

  private int at(int counter) {
    return (int) (word(counter / COUNTERS_A_WORD) >>> shift(counter)) & MOST;
  }

  private int add(int counter) {
    int value = at(counter);
    if (value == MOST) {
      return MOST;
    }
    words[counter / COUNTERS_A_WORD] += 1L << shift(counter);
    return value + 1;
  }

  private static int shift(int counter) {
    return (counter % COUNTERS_A_WORD) * 4;
  }
}
