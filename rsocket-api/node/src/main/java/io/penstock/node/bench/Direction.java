package io.penstock.node.bench;

/// Which way the bytes of a bench go.
enum Direction {
  /// From the far side.
  GET,
  /// To the far side.
  PUT
}
