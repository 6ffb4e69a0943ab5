package io.penstock.pool;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.block.EvictionPolicy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// What a [Ledger] is compared with: the same of one object a key and a map, as plain as can be.
final class LedgerModel<V> {
  private final EvictionPolicy policy;
  private final List<LruList<V>> levels = new ArrayList<>();
  private final Map<BlockKey, Line<V>> lines = new HashMap<>();

  /// @param capacityBlocks most blocks of each level, fastest first; at least one, each [#UNBOUNDED] or above 0
  LedgerModel(EvictionPolicy policy, long... capacityBlocks) {
    this.policy = requireNonNull(policy, "policy");
    if (capacityBlocks.length == 0) {
      throw new IllegalArgumentException("capacityBlocks must have a level (was empty)");
    }
    for (long capacity : capacityBlocks) {
      levels.add(new LruList<>(levels.size(), capacity));
    }
  }

  /// What is remembered of `key`, without counting as a use.
  @Nullable V peek(BlockKey key) {
    Line<V> line = lines.get(key);
    return line == null ? null : line.value;
  }

  /// The level of `key`, −1 if it is not here.
  int level(BlockKey key) {
    Line<V> line = lines.get(key);
    return line == null ? -1 : line.list.level;
  }

  /// Counts a use of `key`, which moves it to level 0 and others down if the policy wants so; null means that it is not
  /// here.
  ///
  /// @param moves hears of the others, and of `key` if it changed its level
  @Nullable V touch(BlockKey key, Ledger.Moves<V> moves) {
    Line<V> line = lines.get(key);
    if (line == null) {
      return null;
    }
    if (policy == EvictionPolicy.LRU) {
      int before = line.list.level;
      line.list.unlink(line);
      levels.getFirst().link(line);
      if (before > 0) {
        moves.moved(key, line.value, 0);
        demoteFrom(0, moves);
      }
    }
    return line.value;
  }

  /// Adds `key`, which is absent, as the most recently used; demotes or evicts another if a level is full.
  ///
  /// @param moves hears of the others
  void insert(BlockKey key, V value, Ledger.Moves<V> moves) {
    insertAt(0, key, value, moves);
  }

  /// The same, for a key that starts lower down: as the most recently used of `level`.
  void insertAt(int level, BlockKey key, V value, Ledger.Moves<V> moves) {
    Line<V> line = new Line<>(key, value);
    if (lines.putIfAbsent(key, line) != null) {
      throw new IllegalStateException("key must be absent to be inserted (was present, " + key + ")");
    }
    levels.get(level).link(line);
    demoteFrom(level, moves);
  }

  /// Moves on who is one too many, from `level` down.
  private void demoteFrom(int level, Ledger.Moves<V> moves) {
    for (int i = level; i < levels.size() && levels.get(i).isTooFull(); i++) {
      LruList<V> list = levels.get(i);
      Line<V> victim = list.first();
      list.unlink(victim);
      if (i + 1 < levels.size()) {
        levels.get(i + 1).link(victim);
      } else {
        lines.remove(victim.key);
      }
      moves.moved(victim.key, victim.value, i + 1);
    }
  }

  /// Changes what is remembered of `key`, which is here, without counting as a use.
  void update(BlockKey key, V value) {
    Line<V> line = lines.get(key);
    if (line == null) {
      throw new IllegalStateException("key must be present to be updated (was absent, " + key + ")");
    }
    line.value = requireNonNull(value);
  }

  @Nullable V remove(BlockKey key) {
    Line<V> line = lines.remove(key);
    if (line == null) {
      return null;
    }
    line.list.unlink(line);
    return line.value;
  }

  /// Removes everything and answers what was remembered, next victim first.
  List<V> clear() {
    List<V> values = new ArrayList<>(lines.size());
    for (LruList<V> list : levels.reversed()) {
      list.drainTo(values);
    }
    lines.clear();
    return values;
  }

  int size() {
    return lines.size();
  }

  /// Keys on `level`.
  int size(int level) {
    return levels.get(level).size;
  }

  /// Keys on `level`, next victim first, each told to `reader`.
  void forEach(int level, BiConsumer<BlockKey, V> reader) {
    levels.get(level).forEach(reader);
  }

  /// A key in its place.
  private static final class Line<V> {
    final BlockKey key;
    V value;
    LruList<V> list;
    Line<V> before;
    Line<V> after;

    /// A ring of its own, on no list.
    @SuppressWarnings("NullAway.Init")
    Line(BlockKey key, V value) {
      this.key = key;
      this.value = value;
      this.before = this;
      this.after = this;
    }
  }

  /// One level: a ring through its lines, from the next victim to the safest.
  private static final class LruList<V> {
    final int level;
    final long capacity;
    int size;
    private @Nullable Line<V> head;

    LruList(int level, long capacity) {
      if (capacity <= 0) {
        throw new IllegalArgumentException("capacityBlocks must be > 0 (was " + capacity + ")");
      }
      this.level = level;
      this.capacity = capacity;
    }

    boolean isTooFull() {
      return size > capacity;
    }

    Line<V> first() {
      return requireNonNull(head);
    }

    /// Adds `line` as the safest.
    void link(Line<V> line) {
      line.list = this;
      if (head == null) {
        head = line;
      } else {
        line.before = head.before;
        line.after = head;
        head.before.after = line;
        head.before = line;
      }
      size++;
    }

    @SuppressWarnings("ReferenceEquality") // a line is its place
    void unlink(Line<V> line) {
      if (head == line) {
        head = line.after == line ? null : line.after;
      }
      line.before.after = line.after;
      line.after.before = line.before;
      line.before = line;
      line.after = line;
      size--;
    }

    void forEach(BiConsumer<BlockKey, V> reader) {
      Line<V> line = head;
      for (int i = 0; i < size && line != null; i++, line = line.after) {
        reader.accept(line.key, line.value);
      }
    }

    void drainTo(List<V> values) {
      forEach((key, value) -> values.add(value));
      head = null;
      size = 0;
    }
  }
}
