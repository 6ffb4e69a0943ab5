package io.penstock.lab.bench.growth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.penstock.lab.LabRun;
import io.penstock.lab.bench.growth.GrowthReport.Point;
import io.penstock.lab.bench.growth.GrowthReport.Row;
import io.penstock.lab.bench.side.Direction;
import io.penstock.node.CommandLineRun;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// The program runs and tells; what it tells of so short a run is not judged.
@Timeout(120)
final class GrowthCommandTest {
  private static CommandLineRun run(String... more) {
    List<String> line = new ArrayList<>(List.of("bench", "growth", "--doublings", "1", "--seconds", "0.02", "--warm-up",
        "0", "--rounds", "1"));
    line.addAll(List.of(more));
    return LabRun.of(line.toArray(String[]::new));
  }

  @Test
  void eachThatGrows_hasARowForGetsAndOneForPuts() {
    CommandLineRun run = run("--json");

    assertThat(run.exitCode()).as(run.err()).isZero();
    JsonNode rows = JsonMapper.shared().readTree(run.out()).get("rows");
    assertThat(rows.size()).isEqualTo(2 * Growth.values().length);
    for (JsonNode row : rows) {
      assertThat(row.at("/points/1/n").asInt()).isEqualTo(2 * row.at("/points/0/n").asInt());
      assertThat(row.at("/points/0/cpuMicros").asDouble()).isPositive();
      assertThat(Double.isFinite(row.get("exponent").asDouble())).isTrue();
    }
  }

  @Test
  void theTable_namesWhatGrows() {
    CommandLineRun run = run("--grow", "layers", "--direction", "get");

    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).contains("EXPONENT", "layers a block", "medians of 1 round").doesNotContain("put");
  }

  @Test
  void workThatCostsMoreAmongMore_hasAnExponentAboveOne() {
    assertThat(row(0).exponent()).isCloseTo(1, within(1e-9));
    assertThat(row(0.5).exponent()).isCloseTo(1.5, within(1e-9));
    assertThat(row(-1).exponent()).as("one cost, however many").isCloseTo(0, within(1e-9));
    assertThat(GrowthReport.of(1.05, 1, List.of(row(0), row(0.06))).meetsTargets()).isFalse();
    assertThat(GrowthReport.of(1.05, 1, List.of(row(0), row(0.04))).meetsTargets()).isTrue();
    assertThat(GrowthReport.of(0, 1, List.of(row(2))).meetsTargets()).as("no limit").isTrue();
  }

  private static Row row(double slope) {
    return Row.of(Growth.KEYS, Direction.GET, IntStream.range(0, 5)
        .mapToObj(i -> new Point(1024 << i, 7 * Math.pow(1024 << i, slope))).toList());
  }

  @Test
  void whatMakesNoSense_isRefused() {
    assertThat(LabRun.of("bench", "growth", "--doublings", "8").err())
        .contains("--doublings must be in [1, 7] (was 8)");
    assertThat(LabRun.of("bench", "growth", "--grow", "layers,foo").err())
        .contains("--grow must be one of blocks, layers, connections, spaces, keys (was foo)");
    assertThat(LabRun.of("bench", "growth", "--seconds", "0").exitCode()).isEqualTo(2);
    assertThat(LabRun.of("bench", "growth", "--most", "-1").exitCode()).isEqualTo(2);
  }
}
