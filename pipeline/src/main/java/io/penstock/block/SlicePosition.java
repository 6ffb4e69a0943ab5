package io.penstock.block;

/// Where a slice stands in its stream.
///
/// @param window number of its window, from 0
/// @param remaining slices of the same window that follow this one
public record SlicePosition(int window, int remaining) {
  public SlicePosition {
    Checks.notNegative("window", window);
    Checks.notNegative("remaining", remaining);
  }
}
