package io.penstock.pool;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;

/// Lines of a [Ledger], found by the keys of one space: a row of 32 bytes and a bucket of 4 a key, whatever their
/// number.
///
/// Buckets are chains, and as many as there were ever lines. They come one at a time, each with half of the lines of an
/// older one (linear hashing), so no insertion waits for all others to be put elsewhere. The hash depends on the space,
/// and so on what a tenant keeps secret: who does not know it cannot choose keys that meet in one bucket.
final class KeyLines {
  /// No line.
  static final int NONE = IntRows.NONE;

  private static final int HIGH = 0;
  private static final int LOW = 2;
  private static final int CHAIN = 4;
  private static final int BEFORE = 5;
  private static final int AFTER = 6;
  private static final int VALUE = 7;
  private static final int WIDTH = 8;

  private final SpaceId space;
  /// Which bits of a hash count.
  private final int hashBits;
  private final IntRows lines = new IntRows(WIDTH);
  private final IntRows buckets = new IntRows(1);
  /// Buckets at the beginning of this round, a power of two; at its end there are twice as many.
  private int round = 1;

  /// @param hashBits −1 but for tests, which want keys to meet
  KeyLines(SpaceId space, int hashBits) {
    this.space = space;
    this.hashBits = hashBits;
    addBucket();
  }

  int size() {
    return lines.size();
  }

  /// The line of `key`, [#NONE] if it has none.
  ///
  /// @throws IllegalArgumentException if it is of another space
  int find(BlockKey key) {
    BlockHash hash = key.requireOf(space).hash();
    int line = buckets.get(bucket(hash(hash.high(), hash.low())), 0);
    while (line != NONE && (lines.getLong(line, LOW) != hash.low() || lines.getLong(line, HIGH) != hash.high())) {
      line = lines.get(line, CHAIN);
    }
    return line;
  }

  /// A line for `key`, which has none; a ring of its own.
  int add(BlockKey key) {
    BlockHash hash = key.requireOf(space).hash();
    int line = lines.take();
    lines.setLong(line, HIGH, hash.high());
    lines.setLong(line, LOW, hash.low());
    lines.set(line, BEFORE, line);
    lines.set(line, AFTER, line);
    hang(line, bucket(hash(hash.high(), hash.low())));
    if (lines.size() > buckets.size()) {
      split();
    }
    return line;
  }

  void remove(int line) {
    int bucket = bucket(hash(line));
    int each = buckets.get(bucket, 0);
    if (each == line) {
      buckets.set(bucket, 0, lines.get(line, CHAIN));
    } else {
      while (lines.get(each, CHAIN) != line) {
        each = lines.get(each, CHAIN);
      }
      lines.set(each, CHAIN, lines.get(line, CHAIN));
    }
    lines.give(line);
  }

  void clear() {
    lines.clear();
    buckets.clear();
    round = 1;
    addBucket();
  }

  BlockKey key(int line) {
    return new BlockKey(space, new BlockHash(lines.getLong(line, HIGH), lines.getLong(line, LOW)));
  }

  int value(int line) {
    return lines.get(line, VALUE);
  }

  void value(int line, int value) {
    lines.set(line, VALUE, value);
  }

  int before(int line) {
    return lines.get(line, BEFORE);
  }

  int after(int line) {
    return lines.get(line, AFTER);
  }

  /// Has `second` follow `first` in a ring.
  void join(int first, int second) {
    lines.set(first, AFTER, second);
    lines.set(second, BEFORE, first);
  }

  // Buckets

  private int addBucket() {
    int bucket = buckets.take();
    buckets.set(bucket, 0, NONE);
    return bucket;
  }

  private void hang(int line, int bucket) {
    lines.set(line, CHAIN, buckets.get(bucket, 0));
    buckets.set(bucket, 0, line);
  }

  /// Adds a bucket, and hangs there what belongs there now.
  private void split() {
    int to = addBucket();
    int from = to - round;
    int line = buckets.get(from, 0);
    buckets.set(from, 0, NONE);
    while (line != NONE) {
      int next = lines.get(line, CHAIN);
      hang(line, (hash(line) & (2 * round - 1)) == to ? to : from);
      line = next;
    }
    if (buckets.size() == 2 * round) {
      round = buckets.size();
    }
  }

  private int bucket(int hash) {
    int bucket = hash & (2 * round - 1);
    return bucket < buckets.size() ? bucket : bucket & (round - 1);
  }

  private int hash(int line) {
    return hash(lines.getLong(line, HIGH), lines.getLong(line, LOW));
  }

  private int hash(long high, long low) {
    long a = high ^ space.high() ^ 0x9E3779B97F4A7C15L;
    long b = low ^ space.low() ^ 0xD6E8FEB86659FD93L;
    long mixed = (a * b) ^ Math.unsignedMultiplyHigh(a, b);
    return (int) (mixed ^ (mixed >>> 32)) & hashBits;
  }
}
