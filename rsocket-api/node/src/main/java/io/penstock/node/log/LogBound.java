package io.penstock.node.log;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Bounds the lines of one kind that a log takes in a period; counts those that it leaves out. Not thread-safe.
final class LogBound {
  private final int most;
  private final long periodMillis;
  private final Map<String, Integer> lines = new LinkedHashMap<>();
  private long periodEnds = Long.MIN_VALUE;

  LogBound(int most, long periodMillis) {
    this.most = most;
    this.periodMillis = periodMillis;
  }

  /// True if a line of `kind` is written.
  boolean admits(String kind) {
    return lines.merge(kind, 1, Integer::sum) <= most;
  }

  /// A sentence for each kind of which the period that ended left lines out.
  ///
  /// @param millis time, which never goes back by much
  List<String> leftOut(long millis) {
    if (millis < periodEnds) {
      return List.of();
    }
    periodEnds = millis + periodMillis;
    return leftOut();
  }

  /// Reports of left-out lines at the end of the log.
  List<String> leftOut() {
    List<String> sentences = new ArrayList<>(0);
    lines.forEach((kind, count) -> {
      if (count > most) {
        sentences.add("lines like the last of %s: %,d more were left out".formatted(kind, count - most));
      }
    });
    lines.clear();
    return sentences;
  }
}
