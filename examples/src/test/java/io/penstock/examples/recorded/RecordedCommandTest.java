package io.penstock.examples.recorded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.penstock.examples.ConsoleCapture;
import io.penstock.examples.Examples;
import io.penstock.recording.MemoryRecording;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.recording.check.RecordingVerifier;
import io.penstock.storage.recording.RecordingReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class RecordedCommandTest {
  private final ConsoleCapture capture = new ConsoleCapture();

  @TempDir
  private Path folder;

  @Test
  void run_keepsItsRules_andIsSaved() {
    Path file = folder.resolve("run.pkr");

    int code = Examples.run(new String[] {"recorded", "--events", "2", "--save", file.toString()}, capture.console());

    assertThat(code).as(capture.err()).isZero();
    List<RecordedEvent> events = Recorded.run().events();
    assertThat(capture.out()).startsWith("opened tier 0 \"{").contains("\nflow tier 0 flow -1 [0] \"store\"\n",
        "recorded: %d events, every rule kept\n".formatted(events.size()), "saved as " + file);
    List<RecordedEvent> saved = new ArrayList<>();
    try (RecordingReader reader = RecordingReader.open(file)) {
      reader.forEachRemaining(saved::add);
    }
    assertThat(saved).isEqualTo(events);
  }

  /// The story would notice: a reader that asks for more than it may is found, with the event.
  @Test
  void aStricterRule_isBroken() {
    MemoryRecording recording = Recorded.run();

    assertThat(recording.events()).extracting(RecordedEvent::kind).contains(Kind.EVICTED, Kind.FLOW_CANCEL);
    assertThatExceptionOfType(AssertionError.class)
        .isThrownBy(() -> RecordingVerifier.of(recording.events()).requestsAtMost("load", 3).verify())
        .withMessageContaining("that are requested and to come must be <= 3 (was 4)");
  }
}
