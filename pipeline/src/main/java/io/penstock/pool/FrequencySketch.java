package io.penstock.pool;

import io.penstock.block.BlockKey;
import java.util.Arrays;
import java.util.BitSet;

/// About how often keys were used lately, in four bits a key: a count-min sketch of four rows whose counters are halved
/// each time that eight uses for each expected key were counted. So an estimate is never below the uses since the last
/// halving, up to 15, and seldom above.
///
/// Counters are halved when they are looked at, and a few more with each use, so that no use waits for all of them.
/// Memory is fixed: two bytes for each key that is expected. Pure; not thread-safe, also to be read: its pool guards
/// it.
public final class FrequencySketch {
  /// Counters stop here.
  public static final int MOST = 15;

  private static final int ROWS = 4;
  private static final int COUNTERS_A_WORD = 16;
  private static final int USES_A_KEY = 8;
  /// Words halved with each use, at least: all of them long before the next time.
  private static final int WORDS_A_USE = 8;
  private static final int MOST_KEYS = 1 << 28;
  private static final long LOW_BITS = 0x7777777777777777L;
  private static final long[] SEEDS =
      {0x9E3779B97F4A7C15L, 0xC2B2AE3D27D4EB4FL, 0x165667B19E3779F9L, 0xD6E8FEB86659FD93L};

  private final long[] words;
  /// A bit a word, which is `side` if the word was halved as often as it should be.
  private final BitSet sides;
  private boolean side;
  /// Words from here on may not have been halved.
  private int next;
  /// Counters of a row, less one: a power of two.
  private final int mask;
  private final long window;
  private long counted;

  /// @param expectedKeys distinct keys among which those that are used often are to be found, in `(0, 2^28]`
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

  /// About how often `key` was used lately.
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

  /// Forgets everything.
  public void clear() {
    Arrays.fill(words, 0);
    sides.clear();
    side = false;
    next = words.length;
    counted = 0;
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
