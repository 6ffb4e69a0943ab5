package io.penstock.lab.plan;

import io.penstock.check.Checks;
import io.penstock.disagg.plan.Run;
import java.util.List;

/// Finds blocks that lie in a row in the memory of both sides, so that one copy moves them: the stride rule.
public final class ContiguousRuns {
  private ContiguousRuns() {}

  /// @param source block ids, one for each of `destination`
  /// @param sourceStride from one block to the next in memory, in any unit
  /// @param length of what is moved of a block, in the same unit; a row goes on where both next blocks begin that far
  ///     behind the ones before
  public static List<Run> of(List<Integer> source, List<Integer> destination, long sourceStride,
      long destinationStride, long length) {
    if (source.size() != destination.size()) {
      throw new IllegalArgumentException("source and destination must be of equal size (were %d and %d)"
          .formatted(source.size(), destination.size()));
    }
    Checks.positive("length", length);
    return Run.split(source.size(), i -> adjoins(source, i, sourceStride, length)
        && adjoins(destination, i, destinationStride, length));
  }

  private static boolean adjoins(List<Integer> blocks, int i, long stride, long length) {
    return ((long) blocks.get(i) - blocks.get(i - 1)) * stride == length;
  }
}
