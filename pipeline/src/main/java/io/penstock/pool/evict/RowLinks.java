package io.penstock.pool.evict;

/// Rings of rows that an [EvictionOrder] keeps in addition to those of the [KeyTable].
final class RowLinks implements RowRings {
  private final IntColumn before = new IntColumn();
  private final IntColumn after = new IntColumn();

  /// Makes `row` a ring of its own.
  void add(int row) {
    join(row, row);
  }

  @Override
  public int before(int row) {
    return before.get(row);
  }

  @Override
  public int after(int row) {
    return after.get(row);
  }

  @Override
  public void join(int first, int second) {
    after.set(first, second);
    before.set(second, first);
  }

  void clear() {
    before.clear();
    after.clear();
  }
}
