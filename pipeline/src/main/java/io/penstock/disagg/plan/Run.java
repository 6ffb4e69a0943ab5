package io.penstock.disagg.plan;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;

/// Neighbours in a list that can be moved as one.
///
/// @param from index of the first
/// @param to index after the last
public record Run(int from, int to) {
  public Run {
    if (from < 0 || to <= from) {
      throw new IllegalArgumentException("run must not be empty (was " + from + " to " + to + ")");
    }
  }

  /// Splits a list before every element that does not continue the one before it.
  ///
  /// @param continues asked for each index from 1
  public static List<Run> split(int size, IntPredicate continues) {
    List<Run> runs = new ArrayList<>();
    int from = 0;
    for (int i = 1; i <= size; i++) {
      if (i == size || !continues.test(i)) {
        runs.add(new Run(from, i));
        from = i;
      }
    }
    return runs;
  }
}
