package io.penstock.node.play;

import io.penstock.node.play.PlayedRun.Broken;
import io.penstock.node.play.RunDigest.Sums;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The outcome of a playing.
///
/// @param turns that were played
/// @param events that were equal
/// @param flows that had an event in the turns that were played
/// @param recorded SHA-256 of the recording, as far as it was played
/// @param played SHA-256 of what was played
/// @param payloads whether the recording has checksums of what was sent, so that bytes were compared, too
/// @param gap whether events are missing: the recording was played up to there
/// @param stop where the playing was to end; null if it went on to the end
/// @param difference the first; null if there is none
/// @param broken rules that flows of the recording break
/// @param flow the chosen flow; null if none was chosen
/// @param state of the tiers, where the playing was to stop for it
record PlayReport(String recording, long turns, long events, long flows, Sums recorded, Sums played, boolean payloads,
    boolean gap, @Nullable Stop stop, @Nullable DifferenceView difference, List<Broken> broken, @Nullable Flow flow,
    List<TierWatch.State> state) {
  /// The turn before which the playing ended.
  ///
  /// @param event number of its first event
  /// @param nanos its time after the first event
  record Stop(long event, long nanos, EventView begin) {}

  /// The events of the chosen flows.
  ///
  /// @param name as it was asked for
  /// @param recorded SHA-256 of its events in the recording
  /// @param played SHA-256 of its events in the playing
  record Flow(String name, String recorded, String played, List<EventView> events) {
    boolean isEqual() {
      return recorded.equals(played);
    }
  }

  /// Whether all that was played was equal, and kept the rules.
  public boolean isEqual() {
    return difference == null && recorded.equals(played) && broken.isEmpty();
  }
}
