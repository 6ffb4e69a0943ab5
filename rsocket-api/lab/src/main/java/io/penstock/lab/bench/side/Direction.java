package io.penstock.lab.bench.side;

/// Which way the bytes of a bench go.
public enum Direction {
  /// From the far side.
  GET,
  /// To the far side.
  PUT
}
