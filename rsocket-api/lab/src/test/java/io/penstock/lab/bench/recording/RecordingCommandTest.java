package io.penstock.lab.bench.recording;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.lab.LabRun;
import io.penstock.node.CommandLineRun;
import io.penstock.node.text.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// The bench runs, on little, and leaves nothing.
@Timeout(60)
final class RecordingCommandTest {
  @TempDir
  private Path folder;

  @Test
  void allKindsAreMeasured_andNothingIsLeft() throws Exception {
    CommandLineRun run = LabRun.of("bench", "recording", "--bytes", "512KiB", "--rounds", "1", "--json", "--dir",
        folder.toString());

    assertThat(run.exitCode()).as(run.err()).isIn(0, 1); // so little tells nothing of the cost
    JsonNode modes = Json.MAPPER.readTree(run.out()).get("modes");
    assertThat(modes.valueStream().map(mode -> mode.get("recorded").asString()).toList()).containsExactly("nothing",
        "events", "events and bytes", "the last minute");
    assertThat(modes).allMatch(mode -> mode.get("putBytesPerSecond").asDouble() > 0
        && mode.get("readBytesPerSecond").asDouble() > 0 && mode.get("missed").asLong() == 0);
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left).isEmpty();
    }
  }
}
