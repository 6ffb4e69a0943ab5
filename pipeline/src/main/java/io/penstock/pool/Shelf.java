package io.penstock.pool;

import io.penstock.block.BlockKey;
import io.penstock.block.Checks;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;

/// One level of a [Ledger]: a ring through its lines, from the next victim to the safest.
final class Shelf {
  private static final int NONE = KeyLines.NONE;

  private final KeyLines lines;
  private final LevelBytes levelOf;
  private final int level;
  private final long capacity;
  private int size;
  private int first = NONE;

  /// @param levelOf remembers the level of each line
  Shelf(KeyLines lines, LevelBytes levelOf, int level, long capacity) {
    Checks.positive("capacityBlocks", capacity);
    this.lines = lines;
    this.levelOf = levelOf;
    this.level = level;
    this.capacity = capacity;
  }

  long capacity() {
    return capacity;
  }

  int size() {
    return size;
  }

  boolean isTooFull() {
    return size > capacity;
  }

  /// The next victim, of those there are.
  int first() {
    return first;
  }

  /// Adds `line`, a ring of its own, as the safest.
  void link(int line) {
    levelOf.set(line, level);
    if (first == NONE) {
      first = line;
    } else {
      lines.join(lines.before(first), line);
      lines.join(line, first);
    }
    size++;
  }

  /// Makes `line` a ring of its own.
  void unlink(int line) {
    int after = lines.after(line);
    if (first == line) {
      first = after == line ? NONE : after;
    }
    lines.join(lines.before(line), after);
    lines.join(line, line);
    size--;
  }

  /// Reads the lines, next victim first.
  void forEach(IntConsumer reader) {
    int line = first;
    for (int i = 0; i < size; i++, line = lines.after(line)) {
      reader.accept(line);
    }
  }

  /// The next `count` victims, or all that there are.
  List<BlockKey> next(int count) {
    List<BlockKey> victims = new ArrayList<>(Math.min(count, size));
    int line = first;
    for (int i = 0; i < size && i < count; i++, line = lines.after(line)) {
      victims.add(lines.key(line));
    }
    return victims;
  }

  void clear() {
    first = NONE;
    size = 0;
  }
}
