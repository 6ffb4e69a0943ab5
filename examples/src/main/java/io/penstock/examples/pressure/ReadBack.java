package io.penstock.examples.pressure;

/// What is read while others are put.
enum ReadBack {
  /// Nothing; each block is asked for by name as soon as it has its receipt.
  NONE,
  /// With each window three of its blocks' worth: the newest, one that is just leaving memory, and one that left it
  /// long ago.
  SOME,
  /// With each window all of its blocks, and as many that are leaving memory, and as many that left it long ago.
  ALL
}
