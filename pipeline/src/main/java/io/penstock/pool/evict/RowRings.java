package io.penstock.pool.evict;

/// Links rows in rings. Each row is in one.
interface RowRings {
  int before(int row);

  int after(int row);

  /// Makes `second` follow `first`.
  void join(int first, int second);
}
