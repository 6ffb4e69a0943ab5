package io.penstock.disagg.plan;

import io.penstock.check.Checks;

/// A range on one axis of a block (layers or heads), as the model, the source and the destination count it.
///
/// @param first index in the model
/// @param count at least 1
/// @param atSource index of the first in a block of the source rank
/// @param atDestination index of the first in a block of the destination rank
public record Extent(int first, int count, int atSource, int atDestination) {
  public Extent {
    Checks.notNegative("first", first);
    Checks.positive("count", count);
    Checks.notNegative("atSource", atSource);
    Checks.notNegative("atDestination", atDestination);
  }

  /// Index in the model after the last.
  public int end() {
    return first + count;
  }
}
