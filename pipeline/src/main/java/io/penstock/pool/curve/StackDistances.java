package io.penstock.pool.curve;

import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.pool.evict.KeyTable;
import java.util.Arrays;
import java.util.function.Consumer;
import java.util.function.Predicate;

/// Stack distances of LRU: how many distinct keys were used since the last use of a key, that key included. A cache
/// under LRU has the key if and only if its capacity is at least this distance.
///
/// The stack algorithm is that of Mattson et al. (IBM Systems Journal 9, 1970), with the counting tree of Bennett and
/// Kruskal (IBM Journal of Research and Development 19, 1975). It departs from the latter in its memory, which grows
/// with the keys and not with the references: when the slots are used up, the keys move together.
///
/// Keys stand in slots, in the order of their last use. A Fenwick tree counts the keys before a slot, so each operation
/// takes O(log n) on average. Memory is about 52 bytes a key, in arrays of primitives. Not thread-safe.
public final class StackDistances {
  private static final int NONE = KeyTable.NONE;
  private static final int SPARE_SLOTS = 64;

  private final KeyTable rows;
  /// The row of the key whose last use has this slot; [#NONE] if it was used again or removed.
  private int[] slots;
  /// Fenwick tree, from 1, over the slots: 1 for a slot with a key.
  private int[] tree;
  /// The first slot that was never taken.
  private int next;
  /// No slot before it has a key.
  private int oldest;

  /// @param space of all keys
  public StackDistances(SpaceId space) {
    this.rows = new KeyTable(space, -1);
    this.slots = new int[SPARE_SLOTS];
    this.tree = new int[SPARE_SLOTS + 1];
  }

  /// Distinct keys.
  public int size() {
    return rows.size();
  }

  public boolean contains(BlockKey key) {
    return rows.find(key) != NONE;
  }

  /// Uses `key`, if it is present: it is the most recently used from now on.
  ///
  /// @return its stack distance, at least 1; 0 if it is absent
  public int use(BlockKey key) {
    int row = rows.find(key);
    if (row == NONE) {
      return 0;
    }
    int slot = rows.value(row);
    int distance = rows.size() - before(slot);
    vacate(slot);
    place(row);
    return distance;
  }

  /// Adds `key`, which is absent, as the most recently used.
  public void enter(BlockKey key) {
    if (contains(key)) {
      throw new IllegalStateException("key must be absent to be entered (was present, " + key + ")");
    }
    place(rows.add(key));
  }

  /// Forgets `key`, if it is present.
  public void remove(BlockKey key) {
    int row = rows.find(key);
    if (row != NONE) {
      forget(row);
    }
  }

  /// Forgets the least recently used key.
  ///
  /// @throws IllegalStateException if there is none
  public void removeOldest() {
    if (rows.size() == 0) {
      throw new IllegalStateException("keys must be at least one (was none)");
    }
    while (slots[oldest] == NONE) {
      oldest++;
    }
    forget(slots[oldest]);
  }

  /// Forgets the keys that `kept` refuses.
  public void retain(Predicate<BlockKey> kept) {
    for (int slot = oldest; slot < next; slot++) {
      int row = slots[slot];
      if (row != NONE && !kept.test(rows.key(row))) {
        forget(row);
      }
    }
  }

  /// Calls `reader` with each key, least recently used first.
  void forEach(Consumer<BlockKey> reader) {
    for (int slot = oldest; slot < next; slot++) {
      if (slots[slot] != NONE) {
        reader.accept(rows.key(slots[slot]));
      }
    }
  }

  private void forget(int row) {
    vacate(rows.value(row));
    rows.remove(row);
  }

  private void vacate(int slot) {
    slots[slot] = NONE;
    add(slot, -1);
  }

  private void place(int row) {
    if (next == slots.length) {
      compact();
    }
    slots[next] = row;
    rows.value(row, next);
    add(next, 1);
    next++;
  }

  /// Moves the keys together, and leaves one free slot for each key.
  private void compact() {
    int[] from = slots;
    int end = next;
    slots = new int[2 * rows.size() + SPARE_SLOTS];
    next = 0;
    for (int slot = oldest; slot < end; slot++) {
      if (from[slot] != NONE) {
        slots[next] = from[slot];
        rows.value(from[slot], next);
        next++;
      }
    }
    oldest = 0;
    tree = new int[slots.length + 1];
    Arrays.fill(tree, 1, next + 1, 1);
    for (int i = 1; i < tree.length; i++) {
      int parent = i + (i & -i);
      if (parent < tree.length) {
        tree[parent] += tree[i];
      }
    }
  }

  // Fenwick tree

  private void add(int slot, int more) {
    for (int i = slot + 1; i < tree.length; i += i & -i) {
      tree[i] += more;
    }
  }

  /// Keys in the slots before `slot`.
  private int before(int slot) {
    int keys = 0;
    for (int i = slot; i > 0; i -= i & -i) {
      keys += tree[i];
    }
    return keys;
  }
}
