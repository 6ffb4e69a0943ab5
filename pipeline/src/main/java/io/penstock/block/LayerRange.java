package io.penstock.block;

/// A half-open run of layers, `from` included, `to` excluded.
public record LayerRange(int from, int to) {
  public LayerRange {
    Checks.notNegative("from", from);
    if (to < from) {
      throw new IllegalArgumentException("to must be >= from (was " + to + " with from " + from + ")");
    }
  }

  /// Number of layers.
  public int count() {
    return to - from;
  }
}
