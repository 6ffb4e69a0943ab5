package io.penstock.node.play;

import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;

/// The time of each event of a recording after the first turn. Reads the events in order. What comes before the first
/// turn, such as the event that says what was recorded, has no time.
public final class TurnTime {
  private boolean began;
  private long first;
  private long since;

  /// Reads the next event.
  ///
  /// @return nanoseconds from the first turn to that of the event
  public long of(RecordedEvent event) {
    if (event.begins() && event.kind() != Kind.BEGAN) {
      first = began ? first : event.at();
      began = true;
      since = event.at() - first;
    }
    return since;
  }
}
