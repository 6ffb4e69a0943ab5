package io.penstock.pool;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import java.util.function.Consumer;

/// The hash table of a [Ledger]: a row for each key of one space, found by the key. A key costs 32 bytes for its row
/// and 4 for a bucket, however many keys there are.
///
/// A bucket is a chain of rows. Buckets are added one at a time, each with half of the rows of an older one, so that no
/// insertion waits for a whole table to be copied. This is linear hashing (Litwin, VLDB '80), which departs from the
/// paper in that a bucket is added for each row, not for each overflow, and that buckets are never taken away. The hash
/// depends on a secret of the process ([BlockHash#hashCode]), so a client cannot choose keys that meet in one bucket.
/// Rows are also linked in rings, which [LruList] uses.
final class KeyTable implements RowRings {
  /// No row.
  static final int NONE = IntRows.NONE;

  private static final int HIGH = 0;
  private static final int LOW = 2;
  private static final int CHAIN = 4;
  private static final int BEFORE = 5;
  private static final int AFTER = 6;
  private static final int VALUE = 7;
  private static final int WIDTH = 8;

  private final SpaceId space;
  /// Mask of the bits of a hash that count.
  private final int hashBits;
  private final IntRows rows = new IntRows(WIDTH);
  private final IntRows buckets = new IntRows(1);
  /// Buckets at the start of this round of growth, a power of two; at its end there are twice as many.
  private int round = 1;

  /// @param hashBits −1, or fewer bits for tests that want keys to meet
  KeyTable(SpaceId space, int hashBits) {
    this.space = space;
    this.hashBits = hashBits;
    addBucket();
  }

  SpaceId space() {
    return space;
  }

  int size() {
    return rows.size();
  }

  /// The row of `key`; [#NONE] if the table lacks the key.
  ///
  /// @throws IllegalArgumentException if `key` is of another space
  int find(BlockKey key) {
    BlockHash hash = key.requireOf(space).hash();
    int row = buckets.get(bucket(hash(hash)), 0);
    while (row != NONE && (rows.getLong(row, LOW) != hash.low() || rows.getLong(row, HIGH) != hash.high())) {
      row = rows.get(row, CHAIN);
    }
    return row;
  }

  /// Adds a row for `key`, which has none. The row is a ring of its own.
  int add(BlockKey key) {
    BlockHash hash = key.requireOf(space).hash();
    int row = rows.take();
    rows.setLong(row, HIGH, hash.high());
    rows.setLong(row, LOW, hash.low());
    rows.set(row, BEFORE, row);
    rows.set(row, AFTER, row);
    chain(row, bucket(hash(hash)));
    if (rows.size() > buckets.size()) {
      split();
    }
    return row;
  }

  void remove(int row) {
    int bucket = bucket(hash(row));
    int each = buckets.get(bucket, 0);
    if (each == row) {
      buckets.set(bucket, 0, rows.get(row, CHAIN));
    } else {
      while (rows.get(each, CHAIN) != row) {
        each = rows.get(each, CHAIN);
      }
      rows.set(each, CHAIN, rows.get(row, CHAIN));
    }
    rows.give(row);
  }

  void clear() {
    rows.clear();
    buckets.clear();
    round = 1;
    addBucket();
  }

  BlockKey key(int row) {
    return new BlockKey(space, new BlockHash(rows.getLong(row, HIGH), rows.getLong(row, LOW)));
  }

  int value(int row) {
    return rows.get(row, VALUE);
  }

  void value(int row, int value) {
    rows.set(row, VALUE, value);
  }

  @Override
  public int before(int row) {
    return rows.get(row, BEFORE);
  }

  @Override
  public int after(int row) {
    return rows.get(row, AFTER);
  }

  @Override
  public void join(int first, int second) {
    rows.set(first, AFTER, second);
    rows.set(second, BEFORE, first);
  }

  /// Reads the chains of buckets from `from` on until at least `count` keys were read. A split moves rows to a later
  /// bucket only, so no key is missed between two calls.
  ///
  /// @return the next bucket; −1 after the last
  int scan(int from, int count, Consumer<BlockKey> reader) {
    int read = 0;
    int bucket = from;
    while (bucket < buckets.size() && read < count) {
      for (int row = buckets.get(bucket, 0); row != NONE; row = rows.get(row, CHAIN)) {
        reader.accept(key(row));
        read++;
      }
      bucket++;
    }
    return bucket < buckets.size() ? bucket : -1;
  }

  // Buckets

  private int addBucket() {
    int bucket = buckets.take();
    buckets.set(bucket, 0, NONE);
    return bucket;
  }

  private void chain(int row, int bucket) {
    rows.set(row, CHAIN, buckets.get(bucket, 0));
    buckets.set(bucket, 0, row);
  }

  /// Adds a bucket, and moves the rows that belong there now.
  private void split() {
    int to = addBucket();
    int from = to - round;
    int row = buckets.get(from, 0);
    buckets.set(from, 0, NONE);
    while (row != NONE) {
      int next = rows.get(row, CHAIN);
      chain(row, (hash(row) & (2 * round - 1)) == to ? to : from);
      row = next;
    }
    if (buckets.size() == 2 * round) {
      round = buckets.size();
    }
  }

  private int bucket(int hash) {
    int bucket = hash & (2 * round - 1);
    return bucket < buckets.size() ? bucket : bucket & (round - 1);
  }

  private int hash(int row) {
    return hash(key(row).hash());
  }

  private int hash(BlockHash hash) {
    return hash.hashCode() & hashBits;
  }
}
