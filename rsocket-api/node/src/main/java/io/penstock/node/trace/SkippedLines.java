package io.penstock.node.trace;

import io.penstock.node.text.Plural;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Counts the lines of a trace that break its form, up to a number that may.
final class SkippedLines {
  private final int most;
  private long count;
  private @Nullable TraceFormatException first;
  /// Whether more lines broke the form than may.
  private boolean isTooFew;

  SkippedLines(int most) {
    this.most = most;
  }

  /// Counts a line.
  ///
  /// @throws TraceFormatException if it is one too many
  void add(TraceFormatException line) {
    if (count == most) {
      isTooFew = true;
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
        : Optional.of("%s skipped%s, the first is %s".formatted(Plural.of(count, "line"),
            isTooFew ? ", as many as --skip-bad allows" : "", first.getMessage()));
  }
}
