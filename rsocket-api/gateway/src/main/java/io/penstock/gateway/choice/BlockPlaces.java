package io.penstock.gateway.choice;

import java.util.Arrays;

/// A table from the names of blocks to the places that have them: for each [Medium] a bit an instance. Not for several
/// threads at once.
///
/// Open addressing with linear probing; a row that has no place any more is taken out by moving back the rows behind it
/// (Knuth, volume 3, 6.4, algorithm R), so the table has no marks of what was removed. A row is a name and its only
/// place, 16 bytes, so an update meets one cache line as a rule. A block with several places has a set of 32 bytes
/// besides. A name costs 24 to 48 bytes at a load of 2/3 and less.
final class BlockPlaces {
  static final int MEDIA = Medium.values().length;
  private static final int WIDTH = 2;
  private static final int LEAST = 64;
  private static final int NO_SET = -1;

  /// Name, then its only place (medium times 64 plus instance), or the complement of the number of its set.
  private long[] rows = new long[LEAST * WIDTH];
  private int mask = LEAST - 1;
  private int size;
  /// Sets of places, a word for each medium. The first word of a free set is the number of the next one.
  private long[] sets = new long[0];
  private int firstFree = NO_SET;

  int size() {
    return size;
  }

  /// Adds a place. The name 0 stands for 1.
  void add(long name, int medium, long bit) {
    long key = key(name);
    int at = find(key);
    if (rows[at] == 0) {
      if ((size + 1) * 3 > (mask + 1) * 2) {
        grow();
        at = find(key);
      }
      rows[at] = key;
      rows[at + 1] = place(medium, bit);
      size++;
      return;
    }
    long value = rows[at + 1];
    if (value < 0) {
      sets[(int) ~value * MEDIA + medium] |= bit;
    } else if (value != place(medium, bit)) {
      int set = newSet();
      sets[set * MEDIA + mediumOf(value)] = bitOf(value);
      sets[set * MEDIA + medium] |= bit;
      rows[at + 1] = ~set;
    }
  }

  void remove(long name, int medium, long bit) {
    int at = find(key(name));
    if (rows[at] == 0) {
      return;
    }
    long value = rows[at + 1];
    if (value < 0) {
      sets[(int) ~value * MEDIA + medium] &= ~bit;
      rows[at + 1] = narrowed((int) ~value);
    } else if (value == place(medium, bit)) {
      drop(at);
    }
  }

  /// The instances that have the block on `medium`, a bit each.
  long places(long name, int medium) {
    int at = find(key(name));
    if (rows[at] == 0) {
      return 0;
    }
    long value = rows[at + 1];
    if (value < 0) {
      return sets[(int) ~value * MEDIA + medium];
    }
    return mediumOf(value) == medium ? bitOf(value) : 0;
  }

  /// Copies the places of a block, of all media, to `to`; false if it has none.
  boolean places(long name, long[] to) {
    int at = find(key(name));
    if (rows[at] == 0) {
      return false;
    }
    long value = rows[at + 1];
    if (value < 0) {
      System.arraycopy(sets, (int) ~value * MEDIA, to, 0, MEDIA);
    } else {
      Arrays.fill(to, 0, MEDIA, 0);
      to[mediumOf(value)] = bitOf(value);
    }
    return true;
  }

  /// Forgets an instance: it takes as long as the table is large.
  void forget(long bit) {
    long[] old = rows;
    rows = new long[old.length];
    size = 0;
    for (int at = 0; at < old.length; at += WIDTH) {
      if (old[at] != 0) {
        long value = old[at + 1];
        if (value < 0) {
          value = without((int) ~value, bit);
        } else if (bitOf(value) == bit) {
          value = Long.MIN_VALUE;
        }
        if (value != Long.MIN_VALUE) {
          copy(old[at], value);
        }
      }
    }
  }

  /// The value of a row whose set loses an instance; the least long if nothing is left.
  private long without(int set, long bit) {
    long any = 0;
    for (int medium = 0; medium < MEDIA; medium++) {
      sets[set * MEDIA + medium] &= ~bit;
      any |= sets[set * MEDIA + medium];
    }
    if (any == 0) {
      release(set);
      return Long.MIN_VALUE;
    }
    return narrowed(set);
  }

  /// The value of a row whose set has at least one place: the place itself if it is the only one.
  private long narrowed(int set) {
    int places = 0;
    long last = 0;
    for (int medium = 0; medium < MEDIA; medium++) {
      long bits = sets[set * MEDIA + medium];
      if (bits != 0) {
        places += Long.bitCount(bits);
        last = place(medium, bits);
      }
    }
    if (places > 1) {
      return ~(long) set;
    }
    release(set);
    return last;
  }

  private int newSet() {
    if (firstFree == NO_SET) {
      int from = sets.length / MEDIA;
      if (sets.length > Integer.MAX_VALUE / 2) {
        throw new IllegalStateException("blocks of several places must be at most " + from + " a shard (were more)");
      }
      sets = Arrays.copyOf(sets, Math.max(MEDIA, 2 * sets.length));
      for (int set = sets.length / MEDIA - 1; set >= from; set--) {
        release(set);
      }
    }
    int set = firstFree;
    firstFree = (int) sets[set * MEDIA];
    sets[set * MEDIA] = 0;
    return set;
  }

  private void release(int set) {
    Arrays.fill(sets, set * MEDIA, (set + 1) * MEDIA, 0);
    sets[set * MEDIA] = firstFree;
    firstFree = set;
  }

  private void grow() {
    long[] old = rows;
    if (old.length > Integer.MAX_VALUE / 2) {
      throw new IllegalStateException("an index must have at most 350 million blocks a shard (was " + size + ")");
    }
    rows = new long[old.length * 2];
    mask = mask * 2 + 1;
    size = 0;
    for (int at = 0; at < old.length; at += WIDTH) {
      if (old[at] != 0) {
        copy(old[at], old[at + 1]);
      }
    }
  }

  private void copy(long key, long value) {
    int to = find(key);
    rows[to] = key;
    rows[to + 1] = value;
    size++;
  }

  private void drop(int at) {
    int hole = at / WIDTH;
    int slot = hole;
    while (true) {
      slot = (slot + 1) & mask;
      long key = rows[slot * WIDTH];
      if (key == 0) {
        break;
      }
      if (((slot - home(key)) & mask) >= ((slot - hole) & mask)) {
        rows[hole * WIDTH] = key;
        rows[hole * WIDTH + 1] = rows[slot * WIDTH + 1];
        hole = slot;
      }
    }
    rows[hole * WIDTH] = 0;
    rows[hole * WIDTH + 1] = 0;
    size--;
  }

  private int find(long key) {
    int slot = home(key);
    while (rows[slot * WIDTH] != 0 && rows[slot * WIDTH] != key) {
      slot = (slot + 1) & mask;
    }
    return slot * WIDTH;
  }

  private int home(long key) {
    return (int) (key ^ (key >>> 32)) & mask;
  }

  private static long place(int medium, long bit) {
    return (long) medium << 6 | Long.numberOfTrailingZeros(bit);
  }

  private static int mediumOf(long place) {
    return (int) (place >>> 6);
  }

  private static long bitOf(long place) {
    return 1L << place; // the low six bits
  }

  private static long key(long name) {
    return name == 0 ? 1 : name;
  }
}
