package io.penstock.pool.evict;

/// A `long` for each row, 0 at first, in chunks: growing copies no values.
public final class LongColumn {
  private final IntColumn high = new IntColumn();
  private final IntColumn low = new IntColumn();

  public long get(int row) {
    return (long) high.get(row) << 32 | (low.get(row) & 0xFFFF_FFFFL);
  }

  public void set(int row, long value) {
    high.set(row, (int) (value >>> 32));
    low.set(row, (int) value);
  }

  public void clear() {
    high.clear();
    low.clear();
  }
}
