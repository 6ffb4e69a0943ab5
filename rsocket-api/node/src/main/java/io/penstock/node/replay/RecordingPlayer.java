package io.penstock.node.replay;

import io.penstock.node.cli.Console;
import io.penstock.recording.RecordedEvent;
import io.penstock.storage.recording.RecordingReader;
import java.nio.file.Path;
import java.util.OptionalInt;
import java.util.ServiceLoader;

/// Plays recordings of a kind of its own, which do not begin with the opening of a tier. `penstock replay` finds it on
/// the class path with [ServiceLoader].
public interface RecordingPlayer {
  /// Plays `recording` if it is of this kind.
  ///
  /// @param first event of the recording
  /// @return the exit code; empty if the recording is of another kind
  OptionalInt play(Path recording, RecordedEvent first, Console console, boolean json);

  /// Plays `recording` with the player of its kind.
  ///
  /// @return the exit code; empty if it is a recording of tiers
  static OptionalInt playOther(Path recording, Console console, boolean json) {
    if (!RecordingReader.isRecording(recording)) { // a folder of recordings
      return OptionalInt.empty();
    }
    RecordedEvent first;
    try (RecordingReader events = RecordingReader.open(recording)) {
      if (!events.hasNext()) {
        return OptionalInt.empty();
      }
      first = events.next();
    }
    for (RecordingPlayer player : ServiceLoader.load(RecordingPlayer.class)) {
      OptionalInt code = player.play(recording, first, console, json);
      if (code.isPresent()) {
        return code;
      }
    }
    return OptionalInt.empty();
  }
}
