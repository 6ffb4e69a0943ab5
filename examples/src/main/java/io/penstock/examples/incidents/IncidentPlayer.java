package io.penstock.examples.incidents;

import io.penstock.examples.incidents.script.IncidentRecording;
import io.penstock.node.cli.Console;
import io.penstock.node.replay.RecordingPlayer;
import io.penstock.recording.RecordedEvent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;

/// Lets `penstock replay` play the recording of an incident.
public final class IncidentPlayer implements RecordingPlayer {
  @Override
  public boolean plays(RecordedEvent first) {
    return IncidentRecording.incidentOf(first) != null;
  }

  @Override
  public int play(List<Path> recordings, Console console, boolean json) {
    try {
      return Playing.play(recordings.stream().map(IncidentRecording::read).toList(), new ShippedRecordings(), console,
          json);
    } catch (IOException e) {
      throw new UncheckedIOException("the shipped recordings must be readable", e);
    }
  }
}
