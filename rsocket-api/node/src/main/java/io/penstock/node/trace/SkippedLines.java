package io.penstock.node.trace;

import io.penstock.node.text.Plural;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Counts the lines of a trace that break its form, up to a number that may.
final class SkippedLines {
  private final String file;
  private final int most;
  private long count;
  private @Nullable TraceFormatException first;

  SkippedLines(String file, int most) {
    this.file = file;
    this.most = most;
  }

  /// Counts a line.
  ///
  /// @throws TraceFormatException if it is one too many
  void add(TraceFormatException line) {
    if (count == most) {
      throw line;
    }
    count++;
    first = first == null ? line : first;
  }

  long count() {
    return count;
  }

  /// A sentence for a person, if lines were skipped.
  Optional<String> note() {
    return first == null
        ? Optional.empty()
        : Optional.of("%s: %s skipped, the first is %s".formatted(file, Plural.of(count, "line"), first.getMessage()));
  }
}
