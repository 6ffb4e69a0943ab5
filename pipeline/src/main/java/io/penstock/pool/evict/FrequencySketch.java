package io.penstock.pool.evict;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import java.util.BitSet;

/// Estimates how often keys were used lately: a count-min sketch of 4-bit counters, 16 to 32 of them for each expected
/// key, of which a key uses four. All counters are halved after ten uses for each expected key. An estimate is at least
/// the number of uses since the last halving, up to 15, and seldom more.
///
/// The sketch is the frequency filter of TinyLFU (Einziger, Friedman and Manes, ACM Transactions on Storage 13, 2017)
/// over a count-min sketch (Cormode and Muthukrishnan, Journal of Algorithms 55, 2005), in the layout of Caffeine 3.2:
/// the four counters of a key lie in one block of 64 bytes, and a use counts only if one of them was not full. So it
/// has no doorkeeper, and adds to all four counters, not only to the least. It departs from both in its reset, which
/// does not halve all counters at once: a word is halved when it is read, and each use halves a few more, so that no
/// use waits for all counters. No estimate differs by that.
///
/// Memory is fixed: 8 to 16 bytes for each expected key, as the number of words is a power of two. Pure; not
/// thread-safe, not even for reads: the owner guards it.
public final class FrequencySketch {
  /// Highest value of a counter.
  public static final int MOST = 15;

  /// Counters of a key, each in two words of its own of a block.
  private static final int ROWS = 4;
  private static final int WORDS_A_BLOCK = 2 * ROWS;
  private static final int USES_A_KEY = 10;
  /// Words halved with each use, at least, so that all are halved long before the next halving.
  private static final int WORDS_A_USE = 8;
  private static final int MOST_KEYS = 1 << 28;
  private static final long LOW_BITS = 0x7777777777777777L;
  private static final long ODD_BITS = 0x1111111111111111L;

  private final long[] words;
  /// One bit a word; it equals `side` if the last halving has reached the word.
  private final BitSet sides;
  private boolean side;
  /// Index of the next word to halve: the words before it were halved.
  private int next;
  /// Blocks, a power of two, less one.
  private final int mask;
  private final long window;
  private long counted;
  /// Uses that were counted before the last halving, until it has reached all words.
  private long countedBefore;
  /// Odd counters that the last halving has met: each lost half a use, in each of its rows.
  private long odd;

  /// @param expectedKeys distinct keys among which to find the frequently used ones, in `(0, 2^28]`
  public FrequencySketch(long expectedKeys) {
    if (expectedKeys <= 0 || expectedKeys > MOST_KEYS) {
      throw new IllegalArgumentException("expectedKeys must be in (0, " + MOST_KEYS + "] (was " + expectedKeys + ")");
    }
    int count = Math.max(WORDS_A_BLOCK, Integer.highestOneBit(Math.max(1, (int) expectedKeys - 1)) << 1);
    this.words = new long[count];
    this.sides = new BitSet(count);
    this.next = count;
    this.mask = count / WORDS_A_BLOCK - 1;
    this.window = USES_A_KEY * expectedKeys;
  }

  /// Counts a use of `key`.
  ///
  /// @return the estimate after it
  public int use(BlockKey key) {
    int hash = spread(hash(key));
    int places = places(hash);
    int least = MOST;
    boolean isCounted = false;
    for (int row = 0; row < ROWS; row++) {
      int word = word(hash, places, row);
      int shift = shift(places, row);
      int value = (int) (halved(word) >>> shift) & MOST;
      if (value < MOST) {
        words[word] += 1L << shift;
        value++;
        isCounted = true;
      }
      least = Math.min(least, value);
    }
    halve(WORDS_A_USE);
    if (isCounted && ++counted == window) {
      startHalving();
    }
    return least;
  }

  /// Estimated number of recent uses of `key`.
  public int estimate(BlockKey key) {
    int hash = spread(hash(key));
    int places = places(hash);
    int least = MOST;
    for (int row = 0; row < ROWS; row++) {
      int value = (int) (halved(word(hash, places, row)) >>> shift(places, row)) & MOST;
      least = Math.min(least, value);
    }
    return least;
  }

  // Halving

  private void startHalving() {
    halve(words.length);
    side = !side;
    next = 0;
    countedBefore = counted;
    counted = 0;
  }

  private void halve(int most) {
    if (next == words.length) {
      return;
    }
    int end = (int) Math.min(words.length, (long) next + most);
    while (next < end) {
      halved(next++);
    }
    if (next == words.length) {
      counted += (countedBefore - odd / ROWS) / 2;
      odd = 0;
    }
  }

  private long halved(int i) {
    if (sides.get(i) != side) {
      sides.set(i, side);
      odd += Long.bitCount(words[i] & ODD_BITS);
      words[i] = (words[i] >>> 1) & LOW_BITS;
    }
    return words[i];
  }

  // Places of a key: a block by its hash, then one of 32 counters in each row

  private static int hash(BlockKey key) {
    BlockHash hash = key.hash();
    return Long.hashCode(hash.low() ^ Long.rotateLeft(hash.high(), Integer.SIZE));
  }

  /// Mixes all bits: the two-round hash of Wellons' hash prospector, as in Caffeine.
  private static int spread(int hash) {
    int x = hash ^ (hash >>> 17);
    x *= 0xed5ad4bb;
    x ^= x >>> 11;
    x *= 0xac4c1b51;
    return x ^ (x >>> 15);
  }

  /// A byte for each row.
  private static int places(int hash) {
    int x = hash * 0x31848bab;
    return x ^ (x >>> 14);
  }

  private int word(int hash, int places, int row) {
    return (hash & mask) * WORDS_A_BLOCK + 2 * row + ((places >>> (Byte.SIZE * row)) & 1);
  }

  private static int shift(int places, int row) {
    return ((places >>> (Byte.SIZE * row + 1)) & 15) * 4;
  }
}
