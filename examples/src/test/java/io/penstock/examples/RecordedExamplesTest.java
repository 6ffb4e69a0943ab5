package io.penstock.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.PenstockMain;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.recording.check.RecordingVerifier;
import io.penstock.storage.recording.RecordingReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
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
    return events(recording);
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

  /// Exit 0 says that each fact of each tier happened again.
  private String played(String... example) {
    recorded(example);
    return replay(folder.resolve(example[0]));
  }

  private static String replay(Path recording) {
    ConsoleCapture capture = new ConsoleCapture();
    assertThat(PenstockMain.commandLine(capture.console()).execute("replay", recording.toString()))
        .as(capture.out() + capture.err()).isZero();
    return capture.out();
  }

  private static List<RecordedEvent> events(Path recording) {
    List<RecordedEvent> events = new ArrayList<>();
    try (RecordingReader reader = RecordingReader.open(recording)) {
      reader.forEachRemaining(events::add);
    }
    return events;
  }

  private static long opened(Path recording) {
    return events(recording).stream().filter(event -> event.kind() == Kind.OPENED).count();
  }

  @Test
  void tiers_isPlayed_bothStacks() {
    assertThat(played("tiers", "--engine", "plain")).contains("equal to what was recorded");
    assertThat(opened(folder.resolve("tiers"))).as("the stack, and the stack after the restart").isEqualTo(2);
  }

  @Test
  void pressure_isPlayed() {
    assertThat(played("pressure", "--put", "3MiB", "--dram", "1600KiB", "--block-bytes", "32KiB", "--layers", "4",
        "--engine", "plain", "--no-baseline")).contains("equal to what was recorded");
    assertThat(opened(folder.resolve("pressure"))).isEqualTo(1);
  }

  @Test
  void conversations_isPlayed_bothNodes() {
    assertThat(played("conversations", "--conversations", "2", "--turns", "2", "--system", "64"))
        .contains("equal to what was recorded");
    assertThat(opened(folder.resolve("conversations"))).as("without and with a disk").isEqualTo(2);
  }

  @Test
  void disaggregated_isPlayed_ranksAndTheRequestsThatTheyKeep() {
    assertThat(played("disaggregated", "--in-process", "--tokens", "2", "--requests", "1", "--mode", "pull"))
        .contains("equal to what was recorded");
    assertThat(events(folder.resolve("disaggregated"))).extracting(RecordedEvent::kind)
        .contains(Kind.OPENED, Kind.REQUESTS, Kind.REQUEST_OPEN);
  }

  /// Each process records into a folder of its own.
  @Tag("proof")
  @Test
  void disaggregated_inProcesses_isPlayedTogether() {
    Path all = folder.resolve("all");
    ConsoleCapture capture = new ConsoleCapture();
    assertThat(Examples.run(new String[] {"disaggregated", "--tokens", "2", "--requests", "1", "--record=" + all},
        capture.console())).as(capture.err()).isZero();

    assertThat(replay(all)).contains("all equal to what was recorded");
    assertThat(opened(all.resolve("prefill-0"))).isPositive();
    assertThat(opened(all.resolve("decode-0"))).isPositive();
  }

  @Test
  void stream_recordsItsLinksAndWhatIsRead() {
    assertThat(played("stream", "--seconds", "1", "--rate", "200000")).contains("equal to what was recorded");
    List<RecordedEvent> events = events(folder.resolve("stream"));
    assertThat(flows(events)).contains("stream 0");
    assertThat(events).extracting(RecordedEvent::kind).contains(Kind.LINK, Kind.FLOW_CANCEL);
  }

  @Test
  void pipe_recordsTheTensorsThatArrive() {
    assertThat(played("pipe", "--size", "64KiB")).contains("equal to what was recorded");
    RecordingVerifier.of(events(folder.resolve("pipe"))).hasElements("received", 1).verify();
  }

  @Test
  void sidecar_recordsItsCalls() {
    assertThat(played("sidecar", "--blocks", "128", "--block-bytes", "8KiB")).contains("equal to what was recorded");
    RecordingVerifier.of(events(folder.resolve("sidecar"))).hasElements("to the device", 2)
        .hasElements("to the host", 2).verify();
  }
}
