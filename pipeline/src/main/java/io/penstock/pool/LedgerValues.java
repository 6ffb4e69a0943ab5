package io.penstock.pool;

import io.penstock.pool.evict.KeyTable;

/// The value or number of each row of a [Ledger]. The row holds a number inverted, or the index of a value in a
/// [ValuePool], so that a number costs no memory beside the row.
final class LedgerValues<V> {
  private final KeyTable rows;
  private final ValuePool<V> values = new ValuePool<>();

  LedgerValues(KeyTable rows) {
    this.rows = rows;
  }

  boolean isNumber(int row) {
    return rows.value(row) < 0;
  }

  /// The number of `row`, which has one.
  int number(int row) {
    return ~rows.value(row);
  }

  /// The value of `row`.
  ///
  /// @throws IllegalStateException if it has a number
  V value(int row) {
    if (isNumber(row)) {
      throw new IllegalStateException(
          "key must have a value (was " + rows.key(row) + ", with number " + number(row) + ")");
    }
    return values.get(rows.value(row));
  }

  /// Number of rows that have a value.
  int values() {
    return values.size();
  }

  /// Sets the value of a row that has neither value nor number.
  void set(int row, V value) {
    rows.value(row, values.add(value));
  }

  /// Sets the number of a row that has neither.
  void setNumber(int row, int number) {
    rows.value(row, ~number);
  }

  /// Sets the value of a row that has a value or number.
  void replace(int row, V value) {
    if (isNumber(row)) {
      set(row, value);
    } else {
      values.set(rows.value(row), value);
    }
  }

  /// Sets the number of a row that has a value or number.
  void replaceNumber(int row, int number) {
    forget(row);
    setNumber(row, number);
  }

  /// Frees the value of `row`, which is removed or set again.
  void forget(int row) {
    if (!isNumber(row)) {
      values.remove(rows.value(row));
    }
  }

  void clear() {
    values.clear();
  }
}
