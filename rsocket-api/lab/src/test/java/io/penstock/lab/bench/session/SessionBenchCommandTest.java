package io.penstock.lab.bench.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.lab.LabRun;
import io.penstock.node.CommandLineRun;
import io.penstock.node.text.Json;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/// Agents that pause find their blocks again, and others lose nothing by that.
@Timeout(60)
final class SessionBenchCommandTest {
  @Test
  void turnsAfterAPause_findWhatAnUnboundedPoolHas_inAQuarterOfItsSize() throws Exception {
    CommandLineRun run = LabRun.of("bench", "sessions", "--seed", "11", "--seeds", "2", "--json");

    assertThat(run.exitCode()).as(run.err()).isZero();
    JsonNode report = Json.MAPPER.readTree(run.out());
    assertThat(report.get("least").asDouble()).as(run.out()).isGreaterThanOrEqualTo(0.95);
    assertThat(report.get("worst").asDouble()).as(run.out()).isLessThanOrEqualTo(2);
    assertThat(report.get("rows").valueStream().filter(row -> row.get("policy").asString().equals("lru")))
        .as("the trace is hard for a policy without sessions").hasSize(2)
        .allSatisfy(row -> assertThat(row.get("ofUnbounded").asDouble()).isLessThan(0.9));
    assertThat(report.get("rows").valueStream().filter(row -> row.get("policy").asString().equals("unbounded")))
        .allSatisfy(row -> assertThat(row.get("returns").asLong()).isGreaterThan(100));
  }

  @Test
  void badParts_areRefused() {
    assertThat(LabRun.of("bench", "sessions", "--size", "0").err()).contains("--size must be in (0, 1] (was 0.0)");
  }
}
