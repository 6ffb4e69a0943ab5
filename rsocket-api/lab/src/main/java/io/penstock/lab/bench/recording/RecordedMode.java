package io.penstock.lab.bench.recording;

import io.penstock.node.tiers.TierRecording;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.storage.recording.FlightRecorder;
import io.penstock.storage.recording.RecordingReader;
import io.penstock.storage.recording.RecordingWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// What a node records.
enum RecordedMode {
  /// Nothing.
  NOTHING("nothing", 0) {
    @Override
    @Nullable TierRecording begin(Path folder) {
      return null;
    }
  },
  /// Everything but bytes of blocks.
  EVENTS("events", 0.05) {
    @Override
    TierRecording begin(Path folder) {
      return TierRecording.begin(folder);
    }
  },
  /// Everything.
  PAYLOADS("events and bytes", 0.30) {
    @Override
    TierRecording begin(Path folder) {
      return TierRecording.begin(folder, RecordingWriter.Options.defaults().withPayloads(true), "");
    }
  },
  /// The last minute, in memory.
  LAST("the last minute", 0.03) {
    @Override
    TierRecording begin(Path folder) {
      return TierRecording.last(folder, FlightRecorder.Options.defaults(), "");
    }
  };

  private final String word;
  private final double mostLost;

  RecordedMode(String word, double mostLost) {
    this.word = word;
    this.mostLost = mostLost;
  }

  String word() {
    return word;
  }

  /// Part of the throughput that it may cost.
  double mostLost() {
    return mostLost;
  }

  /// Events in the recording or recordings in `folder`, each of which is read to its end.
  long events(Path folder) {
    if (this == NOTHING) {
      return 0;
    }
    try (Stream<Path> recordings = Files.walk(folder)) {
      return recordings.filter(RecordingReader::isRecording).mapToLong(RecordedMode::read).sum();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static long read(Path recording) {
    long events = 0;
    try (RecordingReader reader = RecordingReader.open(recording)) {
      while (reader.hasNext()) {
        events += reader.next().kind() == Kind.GAP ? 0 : 1;
      }
    }
    return events;
  }

  /// @param folder of this recording alone
  /// @return null for none
  abstract @Nullable TierRecording begin(Path folder);
}
