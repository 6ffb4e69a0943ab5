package io.penstock.lab.bench.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.lab.LabRun;
import io.penstock.node.CommandLineRun;
import io.penstock.node.text.Json;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/// The benches of the gateway run, and their figures are printed.
@Tag("proof")
@Timeout(300)
final class GatewayBenchCommandTest {
  @Test
  void allForms_areWhole_onAllWays() {
    CommandLineRun run = LabRun.of("bench", "gateway", "--rounds", "1", "--warm-up", "1", "--seconds", "1", "--json");

    assertThat(run.exitCode()).as(run.err()).isIn(0, 1); // a machine that is busy is no failure
    JsonNode lanes = Json.MAPPER.readTree(run.out()).path("lanes");
    assertThat(
        lanes.valueStream().map(lane -> lane.path("way").asString() + " " + lane.path("form").asString()).toList())
        .containsExactly("direct chat", "direct completions", "resumes 2 chat", "resumes 2 completions",
            "resumes 2 responses", "resumes 2 messages", "resumes 0 chat", "resumes 0 completions",
            "resumes 0 responses", "resumes 0 messages");
    assertThat(lanes).allMatch(lane -> lane.path("broken").asLong(-1) == 0);
  }

  @Test
  void overload_isRefused_andNothingBreaks() {
    CommandLineRun run = LabRun.of("bench", "overload", "--seconds", "60", "--json");

    assertThat(run.exitCode()).as(run.err()).isIn(0, 1);
    JsonNode report = Json.MAPPER.readTree(run.out());
    assertThat(report.path("refused").asLong()).isPositive();
    assertThat(List.copyOf(report.path("broken").propertyNames())).isEmpty();
  }
}
