package io.penstock.node.tiers;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.RecordingState;
import org.jspecify.annotations.Nullable;

/// The events of this JVM, as its own flight recorder has them: pauses, locks and files beside what happened last.
final class JvmEvents {
  private JvmEvents() {}

  /// The file for the events beside the recording `saved`.
  static Path beside(Path saved) {
    return saved.resolveSibling(saved.getFileName() + ".jfr");
  }

  /// Writes the events that the JVM has, if JFR records some. It goes on recording.
  ///
  /// @return the file; null if JFR records nothing
  static @Nullable Path dumpBeside(Path saved) throws IOException {
    if (!FlightRecorder.isAvailable() || !FlightRecorder.isInitialized()) { // asking for it would begin it
      return null;
    }
    Optional<Recording> running = FlightRecorder.getFlightRecorder().getRecordings().stream()
        .filter(recording -> recording.getState() == RecordingState.RUNNING).findFirst();
    if (running.isEmpty()) {
      return null;
    }
    Path file = beside(saved);
    try (Recording events = FlightRecorder.getFlightRecorder().takeSnapshot()) {
      if (events.getSize() == 0) { // what has begun just now has no events on the disk
        running.get().dump(file);
      } else {
        events.dump(file);
      }
    }
    return file;
  }
}
