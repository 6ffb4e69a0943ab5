package io.penstock.lab.bench.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.lab.LabRun;
import io.penstock.node.CommandLineRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// The program runs and tells; what it tells of so short a run is not judged here.
@Timeout(120)
final class RecoveryCommandTest {
  @TempDir
  Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"chronicle", "plain"})
  void aSmallFolder_isWrittenOpenedAndChecked(String engine) throws IOException {
    Path journal = folder.resolve("journal");
    String[] order = {"bench", "recovery", "--dir", journal.toString(), "--engine", engine, "--size", "8MiB",
      "--segment", "2MiB", "--rounds", "1"};

    CommandLineRun run = LabRun.of(with(order, "--json"));
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.err()).contains("writing 8.00 MiB", "round 1 of 1");
    JsonNode report = JsonMapper.shared().readTree(run.out());
    assertThat(report.get("blocks").asInt()).isEqualTo(128);
    assertThat(report.get("segments").asInt()).isGreaterThan(4);
    assertThat(report.get("judged").asBoolean()).as("of less than 1 GiB").isFalse();
    assertThat(report.at("/check/timesSequentialRead").asDouble()).isPositive();
    assertThat(report.at("/openWithout/seconds").asDouble()).isPositive();

    CommandLineRun cold = LabRun.of(with(order, "--cold"));
    assertThat(cold.exitCode()).as(cold.err()).isZero();
    assertThat(cold.err()).doesNotContain("writing");
    assertThat(cold.out()).contains("128 blocks of 64", "nothing of it in the system's cache",
        "opening without checkpoints", "not judged");
  }

  @Test
  void whatCannotBeMeasured_isNoBadFigure() throws IOException {
    Path none = Files.createDirectory(folder.resolve("none"));
    CommandLineRun empty = LabRun.of("bench", "recovery", "--dir", none.toString());
    assertThat(empty.exitCode()).as(empty.out()).isEqualTo(74);
    assertThat(empty.err())
        .endsWith("bench recovery: --dir must be a folder with blocks, or one that is not there (was " + none
            + ", which has none)\n");

    CommandLineRun closed = LabRun.of("bench", "recovery", "--dir", "/proc/nothing", "--size", "1MiB");
    assertThat(closed.exitCode()).as(closed.err()).isEqualTo(74);
  }

  private static String[] with(String[] order, String more) {
    String[] all = Arrays.copyOf(order, order.length + 1);
    all[order.length] = more;
    return all;
  }
}
