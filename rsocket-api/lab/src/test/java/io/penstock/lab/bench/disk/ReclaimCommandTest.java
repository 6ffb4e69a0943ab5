package io.penstock.lab.bench.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.lab.LabRun;
import io.penstock.node.CommandLineRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// The program runs and tells; what it tells of so short a run is not judged here.
@Timeout(120)
final class ReclaimCommandTest {
  @TempDir
  Path folder;

  @Test
  void aShortRun_tellsItsFiguresAndPlotsThem() throws IOException {
    Path page = folder.resolve("page.html");

    CommandLineRun run = LabRun.of("bench", "reclaim", "--dir", folder.resolve("disk").toString(), "--live",
        "32MiB", "--segment", "2MiB",
        "--block-bytes", "64KiB", "--reads", "200", "--puts", "8MiB", "--churn", "1", "--phase", "1500ms", "--report",
        page.toString(), "--json");

    assertThat(run.exitCode()).as(run.err()).isBetween(0, 1);
    JsonNode report = JsonMapper.shared().readTree(run.out());
    assertThat(report.at("/quiet/count").asLong()).isPositive();
    assertThat(report.at("/reclaiming/p99").asDouble()).isPositive();
    assertThat(report.get("movedBytes").asLong()).isPositive();
    assertThat(report.get("model").asDouble()).isBetween(1.2, 6.0);
    assertThat(Files.readString(page)).contains("Reads while blocks are moved together", "\"amplification\"",
        "twice that");
    assertThat(folder.resolve("disk")).isEmptyDirectory();
  }

  @Test
  void aLoadThatCannotBe_isMisuse() {
    CommandLineRun run = LabRun.of("bench", "reclaim", "--live", "8MiB");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).isEqualTo("bench reclaim: --live must be >= 16 segments, 128 MiB (was 8 MiB)\n");
  }

  @Test
  void model_ofEightyPercent_isAsPublished() {
    assertThat(ReclaimModel.writeAmplification(0.8)).isBetween(2.68, 2.70);
  }
}
