package io.penstock.node.tiers;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.RecordingState;
import org.jspecify.annotations.Nullable;

/// The events of this JVM, as its own flight recorder has them: pauses, locks and files beside what happened last.
final class JvmEvents {
  /// Variable that names the signal with which a JVM stops threads to sample them; SIGUSR2 if it is not set.
  static final String SIGNAL = "_JAVA_SR_SIGNUM";
  private static final List<String> SAMPLES = List.of("jdk.ExecutionSample#enabled", "jdk.NativeMethodSample#enabled");

  private JvmEvents() {}

  /// Whether JFR may send SIGUSR2 to this process, so that it says nothing about its operator.
  static boolean sendSignals() {
    return System.getenv(SIGNAL) == null && running().anyMatch(recording -> SAMPLES.stream()
        .anyMatch(sample -> "true".equals(recording.getSettings().get(sample))));
  }

  private static Stream<Recording> running() {
    return FlightRecorder.isAvailable() && FlightRecorder.isInitialized() // asking for it would begin it
        ? FlightRecorder.getFlightRecorder().getRecordings().stream()
            .filter(recording -> recording.getState() == RecordingState.RUNNING)
        : Stream.empty();
  }

  /// The file for the events beside the recording `saved`.
  static Path beside(Path saved) {
    return saved.resolveSibling(saved.getFileName() + ".jfr");
  }

  /// Writes the events that the JVM has, if JFR records some. It goes on recording.
  ///
  /// @return the file; null if JFR records nothing
  static @Nullable Path dumpBeside(Path saved) throws IOException {
    Optional<Recording> running = running().findFirst();
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
