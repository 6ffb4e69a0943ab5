package io.penstock.node.replay;

import io.penstock.node.cli.Console;
import io.penstock.recording.RecordedEvent;
import io.penstock.storage.recording.RecordingReader;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/// Plays recordings of a kind of its own, which do not begin with the opening of a tier. `penstock replay` finds it on
/// the class path with [ServiceLoader].
public interface RecordingPlayer {
  /// Whether a recording that begins with `first` is of this kind.
  boolean plays(RecordedEvent first);

  /// Plays recordings of this kind. With `json` it prints one document.
  ///
  /// @return the exit code of the command
  int play(List<Path> recordings, Console console, boolean json);

  /// Plays `recordings` with the player of their kind.
  ///
  /// @return the exit code; empty if they are recordings of tiers
  /// @throws IllegalArgumentException if they are of several kinds
  static OptionalInt playOthers(List<Path> recordings, Console console, boolean json) {
    if (recordings.isEmpty()) {
      return OptionalInt.empty();
    }
    RecordingPlayer player = of(recordings.getFirst());
    for (Path recording : recordings) {
      RecordingPlayer other = of(recording);
      if ((player == null ? null : player.getClass()) != (other == null ? null : other.getClass())) {
        throw new IllegalArgumentException("recordings must be of one kind (was %s, and %s)".formatted(
            recordings.getFirst(), recording));
      }
    }
    return player == null ? OptionalInt.empty() : OptionalInt.of(player.play(recordings, console, json));
  }

  /// The player of a recording of its own kind; null for a recording of tiers.
  static @Nullable RecordingPlayer of(Path recording) {
    if (!RecordingReader.isRecording(recording)) { // a folder of recordings
      return null;
    }
    RecordedEvent first;
    try (RecordingReader events = RecordingReader.open(recording)) {
      if (!events.hasNext()) {
        return null;
      }
      first = events.next();
    }
    for (RecordingPlayer player : ServiceLoader.load(RecordingPlayer.class)) {
      if (player.plays(first)) {
        return player;
      }
    }
    return null;
  }
}
