package io.penstock.disagg.plan;

import io.penstock.check.Checks;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/// Number of layers of each pipeline stage.
public final class StageLayers {
  private StageLayers() {}

  /// The split that engines use unless one is stated: equal parts; the remaining layers go one by one to the stages
  /// before the last, from the end.
  public static List<Integer> even(int layers, int stages) {
    Checks.notNegative("layers", layers);
    List<Integer> parts = new ArrayList<>(Collections.nCopies(Checks.positive("stages", stages), layers / stages));
    for (int i = 0; i < layers % stages; i++) {
      parts.set(stages - 2 - i, layers / stages + 1);
    }
    return List.copyOf(parts);
  }

  /// A stated split.
  ///
  /// @throws IllegalArgumentException if it has another number of stages or of layers
  public static List<Integer> stated(List<Integer> parts, int layers, int stages) {
    if (parts.size() != stages) {
      throw new IllegalArgumentException(
          "layers of stages must be %d numbers, one a stage (was %s)".formatted(stages, parts));
    }
    parts.forEach(part -> Checks.notNegative("layers of a stage", part));
    if (parts.stream().mapToLong(Integer::longValue).sum() != layers) {
      throw new IllegalArgumentException("layers of stages must add up to %d (was %s)".formatted(layers, parts));
    }
    return List.copyOf(parts);
  }

  /// First layer of each stage, and the number of layers behind the last.
  public static List<Integer> bounds(List<Integer> parts) {
    List<Integer> bounds = new ArrayList<>(List.of(0));
    for (int part : parts) {
      bounds.add(bounds.getLast() + part);
    }
    return List.copyOf(bounds);
  }
}
