package io.penstock.node.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.device.ascend.CopyMethod;
import io.penstock.device.ascend.DriverDouble;
import io.penstock.device.ascend.DriverDouble.Profile;
import io.penstock.node.CommandLineRun;
import io.penstock.node.serve.Node;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/// Nodes whose device memory is behind a library: replays over a double of the driver, and what is said when there is
/// none.
@Timeout(300)
final class HbmOnLibraryTest {
  private static DriverDouble driver;

  @BeforeAll
  static void compile() {
    driver = DriverDouble.of(Profile.CANN_90);
  }

  @BeforeEach
  void reset() {
    driver.reset(2, 64 << 20);
  }

  private static CommandLineRun replay(String... more) {
    return AscendRuns.replay(driver.path(), Map.of(), more);
  }

  private static JsonNode requireClean(CommandLineRun run) throws IOException {
    JsonNode report = AscendRuns.requireClean(run);
    assertThat(report.get("hitsByTier").get("hbm").longValue()).isPositive();
    return report.get("copiesByTier").get("hbm");
  }

  @Test
  void replay_copiesByTheLibrary_inBatches() throws IOException {
    JsonNode copies = requireClean(replay("--ascend-device", "1"));

    assertThat(copies.get("device").asString()).isEqualTo("npu1");
    // A copy of a reader that went may be under way when the report is made.
    long calls = driver.calls("aclrtMemcpyBatch");
    assertThat(copies.get("calls").longValue()).isBetween(calls - 1, calls).isPositive();
    long bytes = 4096 * driver.copied(CopyMethod.BATCH);
    assertThat(copies.get("bytes").longValue()).isBetween(bytes * 95 / 100, bytes);
    assertThat(copies.get("elementsPerCall").doubleValue())
        .isCloseTo((double) driver.copied(CopyMethod.BATCH) / calls, Offset.offset(0.05));
    assertThat(copies.get("fallbacks").longValue()).isZero();
    assertThat(driver.copied(CopyMethod.ASYNC)).isZero();
    assertThat(driver.calls("aclFinalize")).isOne();
  }

  @Test
  void replay_whereTheBatchCallIsNotSupported_copiesOneByOne() throws IOException {
    driver.batchUnsupported(0);
    JsonNode copies = requireClean(replay());

    assertThat(copies.get("fallbacks").longValue()).isOne();
    long copied = driver.copied(CopyMethod.ASYNC); // of which some may be under way when the report is made
    assertThat(copies.get("calls").longValue()).isBetween(copied * 95 / 100, copied).isPositive();
    assertThat(copies.get("elementsPerCall").doubleValue()).isEqualTo(1);
    assertThat(driver.copied(CopyMethod.BATCH)).isZero();
  }

  @Test
  void table_namesTheDeviceBehindHbm() {
    CommandLineRun simulated =
        CommandLineRun.of("replay", "--limit", "20", "--block-bytes", "4KiB", "--layers", "4", "--hbm", "60 blocks");
    assertThat(simulated.out())
        .containsPattern("copies of hbm +[0-9,]+ calls of sim0, [0-9.]+ elements a call, 0 fallbacks\n");
  }

  @Test
  void node_metersItsCopies(@TempDir Path folder) throws IOException, InterruptedException {
    driver.fail("aclrtMemcpyBatch", 3, 1, 507_046, -1);
    Node node = AscendRuns.start(driver.path(), Map.of());
    try {
      AscendRuns.load(node, folder.resolve("receipts"));
      String metrics = AscendRuns.metrics(node);
      String up = "{device=\"npu0\",direction=\"host_to_device\",method=\"batch\"} ";
      assertThat(metrics).contains("penstock_copy_carried_bytes_total" + up, "penstock_copy_batch_elements_count" + up,
          "penstock_copy_duration_seconds_count" + up, "penstock_copy_fallbacks_total{device=\"npu0\"} 0.0",
          "penstock_copy_failed_elements_total{code=\"rt_stream_sync_timeout\",device=\"npu0\",result=\"timeout\"} ",
          "penstock_copy_under_way{device=\"npu0\"} ", "penstock_copy_waiting{device=\"npu0\"} ");
    } finally {
      node.close().block();
    }
  }

  @Tag("proof")
  @ParameterizedTest
  @CsvSource({"--processes", "--concurrency=16"})
  void replayOfTheWholeGeneratedTrace_throughTheLibrary_isClean(String how) throws IOException {
    JsonNode copies = requireClean(
        CommandLineRun.of("replay", "--hbm", "200 blocks", "--dram", "300 blocks", "--hbm-device", "ascend",
            "--ascend-lib", driver.path(), how, "--json"));
    assertThat(copies.get("device").asString()).isEqualTo("npu0");
    assertThat(copies.get("calls").longValue()).isPositive();
  }

  /// A node that is to be refused takes no port that another program may have.
  private static CommandLineRun run(String command, String... flags) {
    List<String> line = new ArrayList<>(List.of(command));
    line.addAll(List.of(flags));
    if (command.equals("serve")) {
      line.addAll(List.of("--listen-port", "0", "--admin-port", "off"));
    }
    return CommandLineRun.of(line.toArray(String[]::new));
  }

  @Test
  void node_withoutTheLibrary_endsWith69AndSaysWhereItLooked() {
    for (String command : List.of("replay", "serve")) {
      CommandLineRun run =
          run(command, "--hbm", "60 blocks", "--hbm-device", "ascend", "--ascend-lib", "/nowhere/libascendcl.so");
      assertThat(run.exitCode()).isEqualTo(69);
      assertThat(run.err())
          .isEqualTo(command + ": ascend.lib must be a library of Ascend devices, for hbm.device is ascend (looked for "
              + "/nowhere/libascendcl.so)\n");
    }
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "--block-bytes 64KiB --hbm 1MiB --ascend-device 7 | ascend.device must be in [0, 2), the devices of this process "
        + "(was 7)",
    "--block-bytes 64KiB --hbm 1GiB | hbm must be <= what is free on device npu0, 64.0 MiB (was 1.00 GiB)",
  })
  void whatTheDeviceHasNot_isRefusedByName(String flags, String problem) {
    for (String command : List.of("replay", "serve")) {
      CommandLineRun run = run(command, ("--hbm-device ascend --ascend-lib " + driver.path() + " " + flags).split(" "));
      assertThat(run.exitCode()).as(run.err()).isEqualTo(2);
      assertThat(run.err()).isEqualTo(command + ": " + problem + "\n");
      assertThat(driver.calls("aclFinalize")).as("given back").isPositive();
    }
  }
}
