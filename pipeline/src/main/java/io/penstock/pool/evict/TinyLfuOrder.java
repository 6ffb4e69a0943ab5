package io.penstock.pool.evict;

import io.penstock.block.BlockKey;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import java.util.function.IntSupplier;

/// W-TinyLFU (Einziger, Friedman and Manes, "TinyLFU: A Highly Efficient Cache Admission Policy", ACM Transactions on
/// Storage 13, 2017): an LRU window for new keys, and a main part of a probation list and a protected list. A key that
/// leaves the window stays only if it was used more often than the next victim of the main part, by a
/// [FrequencySketch]. The window begins with a hundredth of the capacity, and a hill climber (Einziger, Eytan, Friedman
/// and Manes, "Adaptive Software Cache Management", Middleware '18) gives it the size that hits most.
///
/// It decides as Caffeine 3.2 does, key for key, with a sketch of 16,777,216 keys at most. As there, a miss counts when
/// the key is inserted, not when it is asked for, and the sketch counts once the cache is half full.
final class TinyLfuOrder implements EvictionOrder {
  private static final int WINDOW = 0;
  private static final int PROBATION = 1;
  private static final int PROTECTED = 2;
  private static final long MOST_KEYS = 1 << 24;
  private static final int MOST_MOVES = 1_000;
  /// Estimate from which on a candidate that lost is admitted once in a while, so that a client who knows the hash
  /// cannot protect a victim for ever.
  private static final int SUSPICIOUS = 6;
  private static final int ADMIT_ONE_OF = 128;

  private final long capacity;
  private final RowLists rows = new RowLists(3);
  private final long sketched;
  private final IntFunction<BlockKey> keys;
  private final IntSupplier random;
  private FrequencySketch sketch;
  private WindowClimber climber;
  private long windowMost;
  private long protectedMost;

  /// @param keys the key of each row
  /// @param random evenly distributed bits, from a seed
  TinyLfuOrder(long capacity, IntFunction<BlockKey> keys, IntSupplier random) {
    this.capacity = capacity;
    this.sketched = Math.min(capacity, MOST_KEYS);
    this.keys = keys;
    this.random = random;
    this.sketch = new FrequencySketch(sketched);
    this.climber = new WindowClimber(capacity);
    size();
  }

  private void size() {
    windowMost = Math.max(1, capacity - (long) (0.99 * capacity));
    protectedMost = (long) (0.8 * (capacity - windowMost));
  }

  private long rows() {
    return (long) rows.size(WINDOW) + rows.size(PROBATION) + rows.size(PROTECTED);
  }

  @Override
  public void missed(BlockKey key) {
    if (rows() + 1 >= capacity / 2) {
      sketch.use(key);
      climber.missed();
    }
  }

  @Override
  public void inserted(int row, BlockKey key, int position) {
    rows.add(WINDOW, row);
    while (rows.size(WINDOW) > windowMost) {
      rows.move(rows.first(WINDOW), PROBATION);
    }
    climb();
  }

  @Override
  public void touched(int row, BlockKey key, int position) {
    if (rows() < capacity / 2) {
      return;
    }
    sketch.use(key);
    climber.hit();
    rows.move(row, rows.of(row) == WINDOW ? WINDOW : PROTECTED);
    climb();
  }

  private void climb() {
    climber.decide();
    demoteProtected();
    long wanted = climber.adjustment();
    if (wanted > 0) {
      grow(wanted);
    } else if (wanted < 0) {
      shrink(-wanted);
    }
  }

  private void demoteProtected() {
    for (int i = 0; i < MOST_MOVES && rows.size(PROTECTED) > protectedMost; i++) {
      rows.move(rows.first(PROTECTED), PROBATION);
    }
  }

  private void grow(long wanted) {
    long quota = Math.min(wanted, protectedMost);
    protectedMost -= quota;
    demoteProtected();
    long moved = 0;
    while (moved < Math.min(quota, MOST_MOVES) && rows.size(PROBATION) + rows.size(PROTECTED) > 0) {
      rows.move(rows.first(rows.size(PROBATION) > 0 ? PROBATION : PROTECTED), WINDOW);
      moved++;
    }
    windowMost += moved;
    protectedMost += quota - moved;
    climber.remaining(quota - moved);
  }

  private void shrink(long wanted) {
    long quota = Math.min(wanted, windowMost - 1);
    long moved = 0;
    while (moved < Math.min(quota, MOST_MOVES) && rows.size(WINDOW) > 0) {
      rows.move(rows.first(WINDOW), PROBATION);
      moved++;
    }
    windowMost -= moved;
    protectedMost += moved;
    climber.remaining(moved - quota);
  }

  @Override
  public int victim(IntPredicate mayLeave) {
    int main = rows.victim(PROBATION, mayLeave);
    int candidate = rows.victim(WINDOW, mayLeave);
    if (main == KeyTable.NONE) {
      return candidate == KeyTable.NONE ? rows.victim(PROTECTED, mayLeave) : candidate;
    }
    return candidate == KeyTable.NONE || isAdmitted(candidate, main) ? main : candidate;
  }

  private boolean isAdmitted(int candidate, int victim) {
    int uses = sketch.estimate(keys.apply(candidate));
    return uses > sketch.estimate(keys.apply(victim))
        || (uses >= SUSPICIOUS && (random.getAsInt() & (ADMIT_ONE_OF - 1)) == 0);
  }

  @Override
  public void evicted(int row, BlockKey key) {
    rows.remove(row);
  }

  @Override
  public void removed(int row) {
    rows.remove(row);
  }

  @Override
  public void clear() {
    rows.clear();
    sketch = new FrequencySketch(sketched);
    climber = new WindowClimber(capacity);
    size();
  }
}
