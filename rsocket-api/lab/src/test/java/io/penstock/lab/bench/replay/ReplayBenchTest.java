package io.penstock.lab.bench.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.lab.LabRun;
import io.penstock.node.CommandLineRun;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// The program runs and tells; what it tells of so short a run is not judged.
@Timeout(120)
final class ReplayBenchTest {
  @Test
  void replayAndItsParts_moveTheSameBytes() {
    CommandLineRun run =
        LabRun.of("bench", "replay", "--limit", "3", "--warm-up", "0", "--rounds", "1", "--json");

    assertThat(run.exitCode()).as(run.err()).isZero();
    JsonNode report = JsonMapper.shared().readTree(run.out());
    assertThat(report.get("ratio").asDouble()).isPositive();
    assertThat(report.at("/whole/bytes").asLong()).isEqualTo(report.get("readBytes").asLong()).isPositive();
    assertThat(report.get("parts")).hasSize(4);
    assertThat(report.at("/parts/0/bytes").asLong()).isEqualTo(report.get("putBytes").asLong());
    assertThat(report.at("/parts/1/bytes").asLong()).isEqualTo(report.get("readBytes").asLong());
  }

  @Test
  void whatMakesNoSense_isRefused() {
    assertThat(LabRun.of("bench", "replay", "--rounds", "0").exitCode()).isEqualTo(2);
    assertThat(LabRun.of("bench", "start", "--seconds", "2").err())
        .contains("--seconds must be a whole number >= 3 (was 2.0)");
    assertThat(LabRun.of("bench", "start", "--transport", "local").exitCode()).isEqualTo(2);
    assertThat(LabRun.of("bench", "wire", "--seconds", "0").err()).contains("--seconds must be > 0 (was 0");
    assertThat(LabRun.of("bench", "wire", "--warm-up", "soon").err())
        .contains("--warm-up must be at least 1ms, such as").contains("(was soon)");
  }
}
