package io.penstock.gateway.choice;

import java.util.Arrays;

/// A table from the names of blocks to the places that have them: for each [Medium] a bit an instance. Not for several
/// threads at once.
///
/// Open addressing with linear probing; a row that has no place any more is taken out by moving back the rows behind it
/// (Knuth, volume 3, 6.4, algorithm R), so the table has no marks of what was removed. A name costs 32 bytes at a load
/// of 2/3 and less.
final class BlockPlaces {
  static final int MEDIA = Medium.values().length;
  private static final int WIDTH = 1 + MEDIA;
  private static final int LEAST = 64;

  private long[] rows = new long[LEAST * WIDTH];
  private int mask = LEAST - 1;
  private int size;

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
      size++;
    }
    rows[at + 1 + medium] |= bit;
  }

  void remove(long name, int medium, long bit) {
    int at = find(key(name));
    if (rows[at] != 0) {
      rows[at + 1 + medium] &= ~bit;
      dropIfEmpty(at);
    }
  }

  /// The instances that have the block on `medium`, a bit each.
  long places(long name, int medium) {
    int at = find(key(name));
    return rows[at] == 0 ? 0 : rows[at + 1 + medium];
  }

  /// Copies the places of a block, of all media, to `to`; false if it has none.
  boolean places(long name, long[] to) {
    int at = find(key(name));
    if (rows[at] == 0) {
      return false;
    }
    System.arraycopy(rows, at + 1, to, 0, MEDIA);
    return true;
  }

  /// Forgets an instance: it takes as long as the table is large.
  void forget(long bit) {
    long[] old = rows;
    int oldMask = mask;
    rows = new long[old.length];
    size = 0;
    for (int slot = 0; slot <= oldMask; slot++) {
      int at = slot * WIDTH;
      if (old[at] != 0) {
        boolean any = false;
        for (int medium = 1; medium < WIDTH; medium++) {
          old[at + medium] &= ~bit;
          any |= old[at + medium] != 0;
        }
        if (any) {
          copy(old, at);
        }
      }
    }
  }

  private void grow() {
    long[] old = rows;
    if (old.length > Integer.MAX_VALUE / 2) {
      throw new IllegalStateException("an index must have at most 300 million blocks a shard (was " + size + ")");
    }
    rows = new long[old.length * 2];
    mask = mask * 2 + 1;
    size = 0;
    for (int at = 0; at < old.length; at += WIDTH) {
      if (old[at] != 0) {
        copy(old, at);
      }
    }
  }

  private void copy(long[] from, int at) {
    int to = find(from[at]);
    System.arraycopy(from, at, rows, to, WIDTH);
    size++;
  }

  private void dropIfEmpty(int at) {
    for (int medium = 1; medium < WIDTH; medium++) {
      if (rows[at + medium] != 0) {
        return;
      }
    }
    int hole = at / WIDTH;
    int slot = hole;
    while (true) {
      slot = (slot + 1) & mask;
      long key = rows[slot * WIDTH];
      if (key == 0) {
        break;
      }
      int home = home(key);
      if (((slot - home) & mask) >= ((slot - hole) & mask)) {
        System.arraycopy(rows, slot * WIDTH, rows, hole * WIDTH, WIDTH);
        hole = slot;
      }
    }
    Arrays.fill(rows, hole * WIDTH, (hole + 1) * WIDTH, 0);
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

  private static long key(long name) {
    return name == 0 ? 1 : name;
  }
}
