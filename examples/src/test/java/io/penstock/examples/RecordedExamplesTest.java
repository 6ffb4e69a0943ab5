package io.penstock.examples;

import static org.assertj.core.api.Assertions.assertThat;

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

/// Examples that record what they do.
@Timeout(60)
final class RecordedExamplesTest {
  @TempDir
  private Path folder;

  private List<RecordedEvent> recorded(String... example) {
    Path recording = folder.resolve(example[0]);
    List<String> arguments = new ArrayList<>(List.of(example));
    arguments.addAll(List.of("--record", recording.toString()));
    ConsoleCapture capture = new ConsoleCapture();
    assertThat(Examples.run(arguments.toArray(String[]::new), capture.console())).as(capture.err()).isZero();
    List<RecordedEvent> events = new ArrayList<>();
    try (RecordingReader reader = RecordingReader.open(recording)) {
      reader.forEachRemaining(events::add);
    }
    return events;
  }

  private static List<String> flows(List<RecordedEvent> events) {
    return events.stream().filter(event -> event.kind() == Kind.FLOW).map(RecordedEvent::text).toList();
  }

  @Test
  void hello_recordsItsFlow() {
    List<RecordedEvent> events = recorded("hello");

    assertThat(flows(events)).containsExactly("offload and load");
    RecordingVerifier.of(events).hasElements("offload and load", 1).verify();
  }

  @Test
  void engine_recordsOffloadAndLoad() {
    List<RecordedEvent> events = recorded("engine");

    assertThat(flows(events)).containsExactly("offload", "load");
    RecordingVerifier.of(events).hasElements("offload", 1).hasElements("load", 1).verify();
  }

  @Test
  void tiers_recordsEachSliceAndReceipt() {
    List<RecordedEvent> events = recorded("tiers", "--engine", "plain");

    assertThat(flows(events)).startsWith("put", "read").contains("read");
    assertThat(events).filteredOn(event -> event.kind() == Kind.FLOW_NEXT).hasSizeGreaterThan(64)
        .allSatisfy(event -> assertThat(event.keys()).isNotEmpty());
  }
}
