package io.penstock.pool;

/// What a [Ledger] remembers of each of its lines: a value, or a number that will do instead. A number costs nothing
/// beside the line: both stand in its row, values by their place among [Values], numbers inverted.
final class Remembered<V> {
  private final KeyLines lines;
  private final Values<V> values = new Values<>();

  Remembered(KeyLines lines) {
    this.lines = lines;
  }

  boolean isNumber(int line) {
    return lines.value(line) < 0;
  }

  /// The number that is remembered of `line`, which [#isNumber].
  int number(int line) {
    return ~lines.value(line);
  }

  /// @throws IllegalStateException if it is a number
  V value(int line) {
    if (isNumber(line)) {
      throw new IllegalStateException(
          "key must have a value (was " + lines.key(line) + ", with number " + number(line) + ")");
    }
    return values.get(lines.value(line));
  }

  /// How many values there are.
  int values() {
    return values.size();
  }

  /// Remembers `value` of a line of which nothing is.
  void set(int line, V value) {
    lines.value(line, values.add(value));
  }

  /// Remembers `number` of a line of which nothing is.
  void setNumber(int line, int number) {
    lines.value(line, ~number);
  }

  /// Remembers `value` from now on.
  void replace(int line, V value) {
    if (isNumber(line)) {
      set(line, value);
    } else {
      values.set(lines.value(line), value);
    }
  }

  /// Remembers `number` from now on.
  void replaceNumber(int line, int number) {
    forget(line);
    setNumber(line, number);
  }

  /// The line is to go, or to be set anew.
  void forget(int line) {
    if (!isNumber(line)) {
      values.remove(lines.value(line));
    }
  }

  void clear() {
    values.clear();
  }
}
