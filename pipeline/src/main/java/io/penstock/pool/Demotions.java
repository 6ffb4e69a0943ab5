package io.penstock.pool;

import io.penstock.block.BlockKey;
import io.penstock.pool.evict.EvictionOrder;
import io.penstock.pool.evict.KeyTable;
import io.penstock.pool.evict.LevelBytes;
import io.penstock.pool.evict.LruList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The moves of keys down the levels of a [Ledger], and out of it: the key that leaves a level, its destination, and
/// the moves that follow below. Not thread-safe.
final class Demotions<V> {
  private static final int NONE = KeyTable.NONE;

  /// Maximum number of keys that are passed over for one victim, if one of them may be the victim. Each key is looked
  /// at once in a turn of the list, so the cost of an eviction stays small on average.
  private static final int MOST_PASSED = EvictionOrder.MOST_KEPT;

  private final List<LruList> levels;
  private final KeyTable rows;
  private final LevelBytes levelOf;
  private final LedgerValues<V> values;
  private @Nullable EvictionOrder order;
  private Ledger.Gate<V> gate = (value, level) -> true;

  /// @param levels of the ledger, which adds and takes keys; fastest first
  Demotions(List<LruList> levels, KeyTable rows, LevelBytes levelOf, LedgerValues<V> values) {
    this.levels = levels;
    this.rows = rows;
    this.levelOf = levelOf;
    this.values = values;
  }

  /// The order chooses the key that is evicted; null if the levels do.
  void order(@Nullable EvictionOrder next) {
    order = next;
  }

  void gate(Ledger.Gate<V> next) {
    gate = next;
  }

  /// Demotes the next victim of `level`, or evicts one, as if the level were full and one more key arrived.
  ///
  /// @return false if every key there is held
  boolean demoteNext(int level, Ledger.Moves<V> moves) {
    LruList list = levels.get(level);
    int before = list.size();
    if (before == 0) {
      return false;
    }
    long capacity = list.capacity();
    list.capacity(before);
    int leaving = leaving(level, NONE);
    list.capacity(capacity);
    if (leaving != NONE) {
      if (hold(leaving) != Hold.NONE) {
        return false;
      }
      move(leaving, levels.size(), moves);
    }
    return list.size() < before || demoteVictim(level, moves);
  }

  private boolean demoteVictim(int level, Ledger.Moves<V> moves) {
    int row = victim(level, NONE);
    if (row == NONE) {
      return false;
    }
    int to = below(level, row);
    if (!hold(row).frees(to == levels.size())) {
      return false;
    }
    demoteFrom(move(row, to, moves), moves);
    return true;
  }

  /// Evicts a key if one more key on `level` has some key leave the last level. `kept` stays.
  void makeRoom(int level, int kept, Ledger.Moves<V> moves) {
    int leaving = leaving(level, kept);
    if (leaving != NONE && hold(leaving) != Hold.IN_USE) { // else the newest key leaves, as without an order
      move(leaving, levels.size(), moves);
    }
  }

  /// The victim of the order, or what leaves if that does not help, if one more key on `level` has some key leave the
  /// last level; else [#NONE].
  private int leaving(int level, int kept) {
    int end = order == null ? NONE : demotionEnd(level, NONE);
    if (order == null || end == NONE) {
      return NONE;
    }
    int victim = order.victim(row -> row != kept && isFree(row));
    boolean helps = victim != NONE && demotionEnd(level, levelOf.get(victim)) == levelOf.get(victim);
    return helps ? victim : victim(end, NONE);
  }

  /// The level where a chain of demotions ends that one more key on `level` starts: `stop` if the chain reaches it,
  /// else the level whose key no other level takes; [#NONE] if a level has room.
  private int demotionEnd(int level, int stop) {
    int i = level;
    while (i != stop) {
      LruList list = levels.get(i);
      if (list.size() < list.capacity()) {
        return NONE;
      }
      int victim = victim(i, NONE);
      int next = victim == NONE ? levels.size() : below(i, victim);
      if (next == levels.size()) {
        return i;
      }
      i = next;
    }
    return stop;
  }

  /// Demotes the victims of levels that are too full, from `level` down.
  void demoteFrom(int level, Ledger.Moves<V> moves) {
    int i = level;
    while (i < levels.size() && levels.get(i).isTooFull()) {
      LruList list = levels.get(i);
      int newest = i == level ? list.last() : NONE;
      int victim = victim(i, newest);
      victim = victim == NONE ? list.first() : victim;
      i = move(victim, below(i, victim), moves);
    }
  }

  /// Moves `row` to level `to`, or evicts it if there is no such level.
  ///
  /// @return `to`
  int move(int row, int to, Ledger.Moves<V> moves) {
    int from = levelOf.get(row);
    BlockKey key = rows.key(row);
    levels.get(from).unlink(row);
    if (order != null && to == levels.size()) {
      order.evicted(row, key);
    }
    if (values.isNumber(row)) {
      int number = values.number(row);
      put(row, to);
      moves.movedNumber(key, number, from, to);
    } else {
      V value = values.value(row);
      put(row, to);
      moves.moved(key, value, to);
    }
    return to;
  }

  /// The first key on `level` that nothing holds, but the newest; the keys before it become the most recently used.
  /// Else the first with a soft pin, else the newest, else the first that a reader uses; [#NONE] if all are held
  /// firmly.
  ///
  /// @param newest the key that has just entered `level`; [#NONE] if there is none
  private int victim(int level, int newest) {
    LruList list = levels.get(level);
    int pinned = NONE;
    int used = newest != NONE && hold(newest) == Hold.NONE ? newest : NONE;
    for (int i = newest == NONE ? 0 : 1; i < list.size()
        && (i < MOST_PASSED || (pinned == NONE && used == NONE)); i++) {
      int row = list.first();
      Hold hold = hold(row);
      if (hold == Hold.NONE || hold.frees(below(level, row) == levels.size())) {
        return row;
      }
      gate.passedOver(hold);
      pinned = pinned == NONE && hold == Hold.SOFT_PIN ? row : pinned;
      used = used == NONE && hold == Hold.IN_USE ? row : used;
      list.unlink(row);
      list.link(row);
    }
    return pinned == NONE ? used : pinned;
  }

  Hold hold(int row) {
    return values.isNumber(row) ? Hold.NONE : gate.hold(values.value(row));
  }

  /// Whether nothing holds the key in `row`.
  private boolean isFree(int row) {
    Hold hold = hold(row);
    if (hold != Hold.NONE) {
      gate.passedOver(hold);
    }
    return hold == Hold.NONE;
  }

  /// The next level below `level` that takes the key in `row`; the number of levels if none does.
  int below(int level, int row) {
    int next = level + 1;
    while (next < levels.size() && !takes(next, row)) {
      next++;
    }
    return next;
  }

  private boolean takes(int level, int row) {
    return values.isNumber(row) ? gate.takesNumber(level) : gate.takes(values.value(row), level);
  }

  /// Puts `row`, which is on no level, on `level`, or out of the ledger if there is no such level.
  private void put(int row, int level) {
    if (level < levels.size()) {
      levels.get(level).link(row);
    } else {
      drop(row);
    }
  }

  void drop(int row) {
    values.forget(row);
    rows.remove(row);
  }

  /// Reports that the key in `row` stays because of its hold.
  void passOver(int row) {
    gate.passedOver(hold(row));
  }
}
