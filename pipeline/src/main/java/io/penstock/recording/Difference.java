package io.penstock.recording;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// The first event at which a played recording differs.
///
/// @param number of the event in the recording, from 0
/// @param expected event of the recording; null where it has ended
/// @param actual event that came instead; null where none came
/// @param before events before it, oldest first
/// @param turn number of the event with which its turn begins
/// @param begin event with which its turn begins
public record Difference(long number, @Nullable RecordedEvent expected, @Nullable RecordedEvent actual,
    List<RecordedEvent> before, long turn, RecordedEvent begin) {
  public Difference {
    before = List.copyOf(before);
  }

  /// *event 17 must be evicted tier 0 [3] … (was moved tier 0 [3] …)*
  @Override
  public String toString() {
    return "event %d must be %s (was %s)".formatted(number, expected == null ? "the end" : expected,
        actual == null ? "nothing" : actual);
  }
}
