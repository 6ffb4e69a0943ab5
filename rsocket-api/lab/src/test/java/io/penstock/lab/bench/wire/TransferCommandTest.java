package io.penstock.lab.bench.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.lab.LabRun;
import io.penstock.node.CommandLineRun;
import io.penstock.system.NativeMemory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.netty.resources.LoopResources;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// The program runs and tells; what it tells of so short a run is not judged.
@Timeout(120)
final class TransferCommandTest {
  private static CommandLineRun run(String... more) {
    List<String> line = new ArrayList<>(List.of("bench", "transfer", "--seconds", "0.05", "--warm-up", "0", "--rounds",
        "1", "--source", "4MiB"));
    line.addAll(List.of(more));
    return LabRun.of(line.toArray(String[]::new));
  }

  @Test
  void itemsOfTwoSizes_goBetweenTwoProcesses() {
    CommandLineRun run = run("--direction", "both", "--transport", "uds", "--blocks", "4KiB,256KiB", "--threads", "2",
        "--connections", "2", "--verify", "--json");

    assertThat(run.exitCode()).as(run.err()).isZero();
    JsonNode report = JsonMapper.shared().readTree(run.out());
    assertThat(report.get("direction").asString()).isEqualTo("both");
    assertThat(report.get("verified").asBoolean()).isTrue();
    assertThat(report.at("/rows/0/batch").asInt()).as("1 MiB of them").isEqualTo(256);
    for (JsonNode row : report.get("rows")) {
      assertThat(row.at("/carriedBy/0").asString()).isEqualTo("inline over uds");
      assertThat(row.get("gigabytesPerSecond").asDouble()).isPositive();
      assertThat(row.get("p999Micros").asDouble()).isGreaterThanOrEqualTo(row.get("p50Micros").asDouble());
      assertThat(row.get("farCpuSecondsPerGigabyte").asDouble()).isPositive();
      assertThat(row.at("/raw/ratio").asDouble()).isPositive();
    }
  }

  /// Memory of the host, and that of a device by way of host buffers.
  @ParameterizedTest
  @ValueSource(strings = {"host", "device"})
  void bytesInSharedMemory_areNotInFrames(String memory) {
    assumeTrue(NativeMemory.absence().isEmpty() && LoopResources.hasNativeSupport());
    CommandLineRun run = run("--direction", "both", "--transport", "shared", "--blocks", "256KiB", "--memory", memory,
        "--verify", "--json");

    assertThat(run.exitCode()).as(run.err()).isZero();
    JsonNode row = JsonMapper.shared().readTree(run.out()).at("/rows/0");
    assertThat(row.get("carriedBy").toString()).isEqualTo("[\"shared-memory over uds\"]");
    assertThat(row.get("gigabytesPerSecond").asDouble()).isPositive();
  }

  @ParameterizedTest
  @ValueSource(strings = {"host", "device"})
  void withinOneProcess_theTableTellsTheSetting(String memory) {
    CommandLineRun run = run("--direction", "both", "--transport", "local", "--blocks", "4KiB,128KiB", "--memory",
        memory, "--verify");

    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).contains("TO NETTY", "128 KiB", "local", memory + " memory", "4 batches under way");
  }

  @Test
  void whatMakesNoSense_isRefused() {
    assertThat(run("--blocks", "0").exitCode()).isEqualTo(2);
    assertThat(run("--transport", "local", "--connect", "127.0.0.1:1").exitCode()).isEqualTo(2);
    CommandLineRun tooLarge = run("--blocks", "4MiB");
    assertThat(tooLarge.exitCode()).isEqualTo(2);
    assertThat(tooLarge.err()).contains("--source must be >= --threads × --batch × --blocks");
    assertThat(LabRun.of("bench", "wire", "--memory", "device").exitCode()).isEqualTo(2);
  }
}
