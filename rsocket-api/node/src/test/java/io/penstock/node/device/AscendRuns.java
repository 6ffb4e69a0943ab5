package io.penstock.node.device;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.AdminRequest;
import io.penstock.node.CommandLineRun;
import io.penstock.node.config.AdminSettings;
import io.penstock.node.config.AscendSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.serve.Node;
import io.penstock.node.setting.Setting;
import io.penstock.node.shape.LayoutSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Replays and nodes whose device memory is behind a library of Ascend devices, as tests run them.
final class AscendRuns {
  private static final JsonMapper JSON = JsonMapper.shared();

  private AscendRuns() {}

  /// A replay of 300 requests, which 60 blocks of device memory and 90 of host memory do not hold.
  static CommandLineRun replay(String library, Map<String, String> environment, String... more) {
    List<String> line = new ArrayList<>(
        List.of("replay", "--limit", "300", "--block-bytes", "4KiB", "--layers", "4", "--hbm", "60 blocks", "--dram",
            "90 blocks", "--hbm-device", "ascend", "--ascend-lib", library, "--json"));
    line.addAll(List.of(more));
    return CommandLineRun.with(environment, new byte[0], line.toArray(String[]::new));
  }

  /// The report of a replay that lost, changed and kept nothing.
  static JsonNode requireClean(CommandLineRun run) throws IOException {
    assertThat(run.exitCode()).as(run.err()).isZero();
    JsonNode report = JSON.readTree(run.out());
    assertThat(report.get("corruptBlocks").longValue()).isZero();
    assertThat(report.get("leakedBlocks").longValue()).isZero();
    assertThat(report.get("bytesVerified")).isEqualTo(report.get("bytesDelivered"));
    return report;
  }

  /// A node of 64 blocks of 4 KiB in host memory, and many more in that of a device.
  static Node start(String library, Map<Setting<?>, String> more) {
    Map<Setting<?>, String> settings =
        new HashMap<>(Map.of(NodeSettings.LISTEN_PORT, "0", AdminSettings.PORT, "0", NodeSettings.HBM,
            "1000 blocks", NodeSettings.DRAM, "64 blocks", LayoutSettings.BLOCK_BYTES, "4KiB", NodeSettings.HBM_DEVICE,
            "ascend", AscendSettings.LIBRARY,
            library));
    settings.putAll(more);
    return requireNonNull(Node.start(NodeConfig.resolve(null, Map.of(), settings)).block());
  }

  /// Puts 500 blocks into `node`.
  ///
  /// @param acks where their receipts go
  static void load(Node node, Path acks) {
    requireWell(node, "load", "--blocks", "500", "--receipts", acks.toString());
  }

  /// Runs a client of `node` to a good end.
  static CommandLineRun requireWell(Node node, String... command) {
    List<String> line = new ArrayList<>(List.of(command));
    line.addAll(List.of("--block-bytes", "4KiB", "--connect", "127.0.0.1:" + node.port()));
    CommandLineRun run = CommandLineRun.of(line.toArray(String[]::new));
    assertThat(run.exitCode()).as(run.err()).isZero();
    return run;
  }

  static String metrics(Node node) throws IOException, InterruptedException {
    return AdminRequest.get(node.adminPort().orElseThrow(), "/metrics").body();
  }
}
