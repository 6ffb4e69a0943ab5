package io.penstock.lab.bench.side;

/// Direction of the bytes of a bench.
public enum Direction {
  /// From the far side.
  GET,
  /// To the far side.
  PUT
}
