package io.penstock.node.log;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Bounds the lines of one kind that a log takes in a period, and counts those that it leaves out. Each source has a
/// bounded number of kinds; lines of further kinds form one kind together. Not thread-safe.
final class LogBound {
  private static final int MOST_KINDS = 20;

  private final int most;
  private final long periodMillis;
  private final Map<String, Integer> lines = new LinkedHashMap<>();
  /// Number of kinds of each source.
  private final Map<String, Integer> kinds = new HashMap<>();
  private long periodEnds = Long.MIN_VALUE;

  LogBound(int most, long periodMillis) {
    this.most = most;
    this.periodMillis = periodMillis;
  }

  /// True if a line of `kind` from `source` is written.
  boolean admits(String source, String kind) {
    String name = source + ", " + kind;
    if (!lines.containsKey(name) && kinds.merge(source, 1, Integer::sum) > MOST_KINDS) {
      return admits(source);
    }
    return admits(name);
  }

  /// True if a line from `source`, whose lines form one kind, is written.
  boolean admits(String source) {
    return lines.merge(source, 1, Integer::sum) <= most;
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
        sentences.add("lines like the last of %s: %,d more were left out".formatted(kind.replace("{}", "…"),
            count - most));
      }
    });
    lines.clear();
    kinds.clear();
    return sentences;
  }
}
