package io.penstock.recording;

import org.jspecify.annotations.Nullable;

/// Where the events of [Turns] go: into a recording, or beside one, to be compared. Called under the lock of the turns,
/// one event at a time; it never waits.
public interface Script {
  void add(RecordedEvent event);

  /// Whether the recording has ended: then tiers work on, and no turn is needed.
  default boolean hasEnded() {
    return false;
  }

  /// The event that comes next in the recording that is played; null if none is, or it has ended.
  default @Nullable RecordedEvent next() {
    return null;
  }
}
