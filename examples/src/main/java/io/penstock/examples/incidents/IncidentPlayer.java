package io.penstock.examples.incidents;

import io.penstock.examples.incidents.script.IncidentRecording;
import io.penstock.node.cli.Console;
import io.penstock.node.replay.RecordingPlayer;
import io.penstock.recording.RecordedEvent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;

/// Lets `penstock replay` play the recording of an incident.
public final class IncidentPlayer implements RecordingPlayer {
  @Override
  public OptionalInt play(Path recording, RecordedEvent first, Console console, boolean json) {
    if (IncidentRecording.incidentOf(first) == null) {
      return OptionalInt.empty();
    }
    try {
      return OptionalInt.of(
          Playing.play(List.of(IncidentRecording.read(recording)), new ShippedRecordings(), console, json));
    } catch (IOException e) {
      throw new UncheckedIOException("the shipped recordings must be readable", e);
    }
  }
}
