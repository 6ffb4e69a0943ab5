package io.penstock.pool;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.block.Checks;
import io.penstock.block.SpaceId;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/// Decides hit and victim in reference order, exactly as the textbook policy does: touch, or insert and evict one at a
/// time.
///
/// The capacity may be cut into levels, fastest first: a key enters at level 0, whoever is one too many there moves
/// down a level, and who is one too many on the last leaves. A use brings a key back to level 0 (LRU), so the levels,
/// read one after the other, are the order of one policy over the whole capacity: hits and victims do not depend on how
/// it was cut.
///
/// Pure bookkeeping: it owns nothing and tells the caller who moved and who left. Every operation is O(levels), and
/// growing copies 64 KiB at most. A key costs 37 bytes in chunks of primitives, and 8 more for the value; where a
/// number will do instead of a value, that is among the 37. Not thread-safe: its pool guards it.
///
/// @param <V> what the pool remembers of a block
public final class Ledger<V> {
  /// No limit on the number of blocks.
  public static final long UNBOUNDED = Long.MAX_VALUE;

  private static final int NONE = KeyLines.NONE;

  private final EvictionPolicy policy;
  private final List<Shelf> levels = new ArrayList<>();
  private final KeyLines lines;
  private final LevelBytes levelOf = new LevelBytes();
  private final Remembered<V> remembered;
  private Gate<V> gate = (value, level) -> true;

  /// Hears where a key went that the policy moved. Must not call back.
  @FunctionalInterface
  public interface Moves<V> {
    /// `value` is on `level` now; the number of levels means that it was evicted.
    void moved(BlockKey key, V value, int level);

    /// The same of a key of which a number is remembered, and that was on `from`.
    default void movedNumber(BlockKey key, int number, int from, int level) {
      throw new IllegalStateException(
          "key must have a value to be moved (was " + key + ", with number " + number + ")");
    }
  }

  /// Says who may move down where. Must not call back.
  @FunctionalInterface
  public interface Gate<V> {
    /// Whether `level` takes `value`, which is one too many above it; whom no level takes leaves.
    boolean takes(V value, int level);

    /// The same of a key of which a number is remembered.
    default boolean takesNumber(int level) {
      return true;
    }
  }

  /// @param space of all keys
  /// @param capacityBlocks most blocks of each level, fastest first; 1 to 127 of them, each [#UNBOUNDED] or above 0
  public Ledger(SpaceId space, EvictionPolicy policy, long... capacityBlocks) {
    this(new KeyLines(space, -1), policy, capacityBlocks);
  }

  Ledger(KeyLines lines, EvictionPolicy policy, long... capacityBlocks) {
    this.policy = requireNonNull(policy, "policy");
    this.lines = lines;
    this.remembered = new Remembered<>(lines);
    if (capacityBlocks.length == 0 || capacityBlocks.length > Byte.MAX_VALUE) {
      throw new IllegalArgumentException(
          "capacityBlocks must be of 1 to " + Byte.MAX_VALUE + " levels (was " + capacityBlocks.length + ")");
    }
    for (long capacity : capacityBlocks) {
      levels.add(new Shelf(lines, levelOf, levels.size(), capacity));
    }
  }

  /// Has `gate` asked about everyone who is to move down; without, every level takes everyone.
  public Ledger<V> gate(Gate<V> gate) {
    this.gate = requireNonNull(gate, "gate");
    return this;
  }

  /// The value that is remembered of `key`, without counting as a use; null if there is none.
  public @Nullable V peek(BlockKey key) {
    int line = lines.find(key);
    return line == NONE || remembered.isNumber(line) ? null : remembered.value(line);
  }

  /// The number that is remembered of `key`, −1 if there is none.
  public int number(BlockKey key) {
    int line = lines.find(key);
    return line == NONE || !remembered.isNumber(line) ? -1 : remembered.number(line);
  }

  /// The level of `key`, −1 if it is not here.
  public int level(BlockKey key) {
    int line = lines.find(key);
    return line == NONE ? -1 : levelOf.get(line);
  }

  /// Counts a use of `key`, of which no number is remembered, which moves it to level 0 and others down if the policy
  /// wants so; null means that it is not here.
  ///
  /// @param moves hears of the others, and of `key` if it changed its level
  public @Nullable V touch(BlockKey key, Moves<V> moves) {
    int line = lines.find(key);
    if (line == NONE) {
      return null;
    }
    V value = remembered.value(line);
    if (policy == EvictionPolicy.LRU) {
      int before = levelOf.get(line);
      levels.get(before).unlink(line);
      levels.getFirst().link(line);
      if (before > 0) {
        moves.moved(key, value, 0);
        settle(0, moves);
      }
    }
    return value;
  }

  /// Counts a use of `key` that leaves it on its level, as the most recently used there if the policy wants so; null
  /// means that it is not here.
  public @Nullable V refresh(BlockKey key) {
    int line = lines.find(key);
    if (line == NONE) {
      return null;
    }
    if (policy == EvictionPolicy.LRU) {
      Shelf shelf = levels.get(levelOf.get(line));
      shelf.unlink(line);
      shelf.link(line);
    }
    return remembered.value(line);
  }

  /// The next `count` victims of `level`, or all that there are.
  public List<BlockKey> next(int level, int count) {
    return levels.get(level).next(count);
  }

  /// Adds `key`, which is not here, as the most recently used; whoever is one too many moves down or leaves.
  ///
  /// @param moves hears of the others
  public void insert(BlockKey key, V value, Moves<V> moves) {
    insertAt(0, key, value, moves);
  }

  /// The same, for a key that starts lower down: as the most recently used of `level`.
  public void insertAt(int level, BlockKey key, V value, Moves<V> moves) {
    requireNonNull(value, "value");
    requireAbsent(key);
    int line = lines.add(key);
    remembered.set(line, value);
    levels.get(level).link(line);
    settle(level, moves);
  }

  /// The same, with a number instead of a value.
  public void insertNumberAt(int level, BlockKey key, int number, Moves<V> moves) {
    Checks.notNegative("number", number);
    requireAbsent(key);
    int line = lines.add(key);
    remembered.setNumber(line, number);
    levels.get(level).link(line);
    settle(level, moves);
  }

  private void requireAbsent(BlockKey key) {
    if (lines.find(key) != NONE) {
      throw new IllegalStateException("key must be absent to be inserted (was present, " + key + ")");
    }
  }

  /// Moves on who is one too many, from `level` down.
  private void settle(int level, Moves<V> moves) {
    int i = level;
    while (i < levels.size() && levels.get(i).isTooFull()) {
      int from = i;
      int victim = levels.get(from).first();
      BlockKey key = lines.key(victim);
      levels.get(from).unlink(victim);
      i = below(from, victim);
      if (remembered.isNumber(victim)) {
        int number = remembered.number(victim);
        put(victim, i);
        moves.movedNumber(key, number, from, i);
      } else {
        V value = remembered.value(victim);
        put(victim, i);
        moves.moved(key, value, i);
      }
    }
  }

  /// The next level below `level` that takes `line`; the number of levels if none does.
  private int below(int level, int line) {
    int next = level + 1;
    while (next < levels.size() && !takes(next, line)) {
      next++;
    }
    return next;
  }

  private boolean takes(int level, int line) {
    return remembered.isNumber(line) ? gate.takesNumber(level) : gate.takes(remembered.value(line), level);
  }

  /// Puts `line`, which is on no level, on `level`, or out of the ledger if there is none.
  private void put(int line, int level) {
    if (level < levels.size()) {
      levels.get(level).link(line);
    } else {
      drop(line);
    }
  }

  private void drop(int line) {
    remembered.forget(line);
    lines.remove(line);
  }

  /// Changes what is remembered of `key`, which is here, without counting as a use.
  public void update(BlockKey key, V value) {
    remembered.replace(present(key), requireNonNull(value, "value"));
  }

  /// The same: a number is remembered from now on.
  public void updateNumber(BlockKey key, int number) {
    Checks.notNegative("number", number);
    remembered.replaceNumber(present(key), number);
  }

  private int present(BlockKey key) {
    int line = lines.find(key);
    if (line == NONE) {
      throw new IllegalStateException("key must be present to be updated (was absent, " + key + ")");
    }
    return line;
  }

  /// Removes `key`, of which no number is remembered; null means that it was not here.
  public @Nullable V remove(BlockKey key) {
    int line = lines.find(key);
    if (line == NONE) {
      return null;
    }
    V value = remembered.value(line);
    levels.get(levelOf.get(line)).unlink(line);
    drop(line);
    return value;
  }

  /// Removes everything and answers the values that were remembered, next victim first; numbers are forgotten.
  public List<V> clear() {
    List<V> kept = new ArrayList<>(remembered.values());
    for (Shelf shelf : levels.reversed()) {
      forEachValue(shelf, line -> kept.add(remembered.value(line)));
      shelf.clear();
    }
    lines.clear();
    levelOf.clear();
    remembered.clear();
    return kept;
  }

  public int size() {
    return lines.size();
  }

  /// Keys on `level`.
  public int size(int level) {
    return levels.get(level).size();
  }

  /// Keys on `level` of which a value is remembered, next victim first, each told to `reader`.
  public void forEach(int level, BiConsumer<BlockKey, V> reader) {
    forEachValue(levels.get(level), line -> reader.accept(lines.key(line), remembered.value(line)));
  }

  private void forEachValue(Shelf shelf, IntConsumer reader) {
    shelf.forEach(line -> {
      if (!remembered.isNumber(line)) {
        reader.accept(line);
      }
    });
  }

  /// Most blocks over all levels.
  public long capacityBlocks() {
    long total = 0;
    for (Shelf shelf : levels) {
      total = shelf.capacity() > UNBOUNDED - total ? UNBOUNDED : total + shelf.capacity();
    }
    return total;
  }
}
