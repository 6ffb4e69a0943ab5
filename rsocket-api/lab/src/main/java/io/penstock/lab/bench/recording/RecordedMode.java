package io.penstock.lab.bench.recording;

import io.penstock.node.tiers.TierRecording;
import io.penstock.storage.recording.FlightRecorder;
import io.penstock.storage.recording.RecordingWriter;
import java.nio.file.Path;
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

  /// @param folder of this recording alone
  /// @return null for none
  abstract @Nullable TierRecording begin(Path folder);
}
