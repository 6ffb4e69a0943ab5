package io.penstock.lab.bench.wire;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.lab.LabRun;
import io.penstock.node.CommandLineRun;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// The programs run and tell; what they tell of so short a run is not judged.
@Timeout(120)
final class WireCommandTest {
  private static CommandLineRun run(String command, String... more) {
    List<String> line = new ArrayList<>(List.of("bench", command, "--seconds", "0.05", "--warm-up", "0", "--rounds",
        "1", "--source", "2MiB"));
    line.addAll(List.of(more));
    return LabRun.of(line.toArray(String[]::new));
  }

  @Test
  void blocksOfTwoSizes_goBetweenTwoProcesses() {
    CommandLineRun run = run("wire", "--direction", "get", "--transport", "tcp", "--blocks", "4KiB,256KiB",
        "--threads", "2", "--connections", "2", "--verify", "--json");

    assertThat(run.exitCode()).as(run.err()).isZero();
    JsonNode report = JsonMapper.shared().readTree(run.out());
    assertThat(report.get("direction").asString()).isEqualTo("get");
    assertThat(report.get("transport").asString()).isEqualTo("tcp");
    assertThat(report.get("verified").asBoolean()).isTrue();
    assertThat(report.at("/rows/0/batch").asInt()).as("1 MiB of them").isEqualTo(256);
    assertThat(report.at("/rows/1/batch").asInt()).isEqualTo(4);
    for (JsonNode row : report.get("rows")) {
      assertThat(row.get("gigabytesPerSecond").asDouble()).isPositive();
      assertThat(row.get("p50Micros").asDouble()).isPositive();
      assertThat(row.get("p999Micros").asDouble()).isGreaterThanOrEqualTo(row.get("p50Micros").asDouble());
      assertThat(row.get("nearCpuSecondsPerGigabyte").asDouble()).isPositive();
      assertThat(row.get("farCpuSecondsPerGigabyte").asDouble()).isPositive();
      assertThat(row.at("/raw/ratio").asDouble()).isPositive();
      assertThat(row.at("/copy/ratio").asDouble()).isPositive();
    }
  }

  @Test
  void latency_ofBlocksWithSeveralLayers_hasLookUpsToo() {
    CommandLineRun run = run("latency", "--transport", "tcp", "--blocks", "4KiB", "--layers", "2", "--json");

    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(JsonMapper.shared().readTree(run.out()).at("/lookUps/perSecond").asDouble()).isPositive();
  }

  @Test
  void theTable_tellsTheSetting_andAPeerThatIsNotInstalledIsSkippedInAWord() {
    CommandLineRun run = run("wire", "--direction", "put", "--transport", "uds", "--blocks", "64KiB", "--batch",
        "3", "--congestion", "system", "--peer", "redis");

    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).contains("TO NETTY", "64.0 KiB", "put over uds, congestion control system, host memory",
        "medians of 1 round of 0.1 s each by turns, after a warm-up of 0.0 s");
    assertThat(run.out().contains("redis at") || run.err().contains("--peer redis: skipped")).isTrue();
  }

  @Test
  void latency_tellsGetsAndLookUps() {
    CommandLineRun run = run("latency", "--blocks", "64KiB", "--under-way", "8", "--batch", "16", "--json");

    assertThat(run.exitCode()).as(run.err()).isZero();
    JsonNode report = JsonMapper.shared().readTree(run.out());
    assertThat(run.err()).as("2 loads of gets and 3 of look-ups, 0.055 s each")
        .contains("bench latency: takes about 1 s", "bench latency: gets of 65536 B", "bench latency: look-ups");
    assertThat(report.at("/gets/0/p50Ratio").asDouble()).isPositive();
    assertThat(report.at("/gets/0/cpuRatio").asDouble()).isPositive();
    assertThat(report.at("/lookUps/batch").asInt()).isEqualTo(16);
    assertThat(report.at("/lookUps/ratio").asDouble()).isPositive();
    assertThat(report.at("/lookUps/batchedRatio").asDouble()).isPositive();
  }

  @Test
  void whatMakesNoSense_isRefused_andNoFarSideIsAnotherCode() {
    assertThat(run("wire", "--blocks", "3").exitCode()).isEqualTo(2);
    assertThat(run("wire", "--threads", "0").exitCode()).isEqualTo(2);
    assertThat(run("wire", "--batch", "0").exitCode()).isEqualTo(2);
    assertThat(run("latency", "--batch", "5000").exitCode()).isEqualTo(2);
    assertThat(run("latency", "--transport", "shared", "--spin", "-1").err())
        .contains("--spin must be in [0, 1000000] (was -1)");
    assertThat(run("latency", "--spin", "50").err())
        .contains("--transport must be shared for --spin 50", "(was tcp)");
    CommandLineRun refused = run("wire", "--connect", "127.0.0.1:1");
    assertThat(refused.exitCode()).as(refused.err()).isEqualTo(69);
    assertThat(refused.err()).contains("no far side of a bench is listening at 127.0.0.1:1");
  }

  @Test
  void aServerThatIsNoFarSide_isAsNone() throws Exception {
    Thread closing;
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      closing = Thread.ofVirtual().start(() -> closeWhatComes(other));
      CommandLineRun refused = run("latency", "--connect", "127.0.0.1:" + other.getLocalPort());
      assertThat(refused.exitCode()).as(refused.err()).isEqualTo(69);
      assertThat(refused.err()).contains("no far side of a bench is listening at 127.0.0.1:" + other.getLocalPort());
    }
    closing.join();
  }

  private static void closeWhatComes(ServerSocket server) {
    try {
      while (!server.isClosed()) {
        server.accept().close();
      }
    } catch (IOException closed) {
      assertThat(server.isClosed()).isTrue();
    }
  }

  @Test
  void aBenchThatASignalEnds_leavesNoFolder(@TempDir Path parent) throws Exception {
    Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-Xmx256m", "-XX:TieredStopAtLevel=1", "-Djava.io.tmpdir=" + parent, "-cp",
        System.getProperty("java.class.path"), "io.penstock.lab.LabMain", "bench", "wire", "--transport", "uds",
        "--blocks", "64KiB", "--source", "2MiB").redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    try (BufferedReader err = process.errorReader()) {
      for (String line = err.readLine(); line != null && !line.contains("batch 16"); line = err.readLine()) {
        assertThat(line).doesNotContain("must");
      }
      assertThat(folders(parent)).hasSize(1);
      process.toHandle().destroy();
      err.lines().forEach(line -> {}); // until the far side has ended, too
    }
    assertThat(process.waitFor()).isEqualTo(143);
    assertThat(folders(parent)).isEmpty();
  }

  private static List<String> folders(Path parent) {
    return Arrays.stream(requireNonNull(parent.toFile().list())).filter(name -> name.startsWith("penstock-bench-"))
        .toList();
  }
}
