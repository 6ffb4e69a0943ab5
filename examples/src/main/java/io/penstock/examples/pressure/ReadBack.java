package io.penstock.examples.pressure;

/// Blocks that are read while others are put.
enum ReadBack {
  /// Nothing; each block is asked for by name as soon as it has its receipt.
  NONE,
  /// Three blocks for each window: the newest, one that is just leaving memory, and one that left it long ago.
  SOME,
  /// All blocks of each window, as many that are leaving memory, and as many that left it long ago.
  ALL
}
