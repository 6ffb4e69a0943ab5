package io.penstock.node.client;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.CommandLineRun;
import io.penstock.node.config.AdminSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.serve.Node;
import io.penstock.node.setting.Setting;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// What `put` says became of its blocks, and `--require`.
@Timeout(60)
final class PutFateTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final Map<String, String> ENVIRONMENT =
      Map.of("PENSTOCK_BLOCK_BYTES", "4KiB", "PENSTOCK_WINDOW_BLOCKS", "8");

  @TempDir
  Path folder;
  private @Nullable Node node;

  @AfterEach
  void stop() {
    if (node != null) {
      node.close().block(SOON);
    }
  }

  private CommandLineRun put(String... arguments) {
    List<String> all =
        new ArrayList<>(List.of("put", "--count", "16", "--connect", "127.0.0.1:" + requireNonNull(node).port()));
    all.addAll(List.of(arguments));
    return CommandLineRun.with(ENVIRONMENT, new byte[0], all.toArray(String[]::new));
  }

  private void start(Map<Setting<?>, String> more) {
    Map<Setting<?>, String> flags = new HashMap<>(more);
    flags.put(NodeSettings.LISTEN_PORT, "0");
    flags.put(AdminSettings.PORT, "off");
    node = Node.start(NodeConfig.resolve(null, ENVIRONMENT, flags)).block(SOON);
  }

  @Test
  void blocksThatLeftMemorySince_areToldAsEvicted_andFailARequirement() {
    start(Map.of(NodeSettings.DRAM, "4 blocks", NodeSettings.EXACT, "true"));

    CommandLineRun plain = put();
    assertThat(plain.exitCode()).as(plain.err()).isZero();
    assertThat(plain.err()).contains("16 stored (16 volatile, 12 of them evicted since), 0 there already");

    CommandLineRun json = put("--seed", "100", "--json", "--require", "volatile");
    assertThat(json.exitCode()).as(json.err()).isEqualTo(3);
    assertThat(json.out().lines().toList().getLast()).contains("\"stored\":16,\"present\":0,"
        + "\"durability\":{\"volatile\":16},\"evicted\":12,\"required\":{\"durability\":\"volatile\",\"less\":12}");

    CommandLineRun written = put("--seed", "200", "--require", "written");
    assertThat(written.exitCode()).isEqualTo(3);
    assertThat(written.err()).contains(
        "every block must be written at the end (16 of 16 are not): the node has no disk",
        "--stack-mode write_through");
  }

  /// A block that was there already has no receipt: the node says what it has of it.
  @Test
  void blocksOnADiskThatIsWrittenThrough_areWritten_alsoThoseThatWereThere() {
    start(Map.of(NodeSettings.DRAM, "8 blocks", NodeSettings.SSD, "64 blocks", NodeSettings.SSD_DIR, folder.toString(),
        NodeSettings.STACK_MODE, "write_through"));

    CommandLineRun first = put("--require", "written");
    assertThat(first.exitCode()).as(first.err()).isZero();
    assertThat(first.err()).contains("16 stored (16 written), 0 there already");
    CommandLineRun again = put("--require", "written");
    assertThat(again.exitCode()).as(again.err()).isZero();
    assertThat(again.err()).contains("0 stored, 16 there already");
    CommandLineRun forced = put("--require", "forced");
    assertThat(forced.exitCode()).isEqualTo(3);
    assertThat(forced.err()).contains("every block must be forced at the end (16 of 16 are not)",
        "--ssd-durability always");
  }

  @Test
  void unknownDurability_isMisuse() {
    start(Map.of(NodeSettings.DRAM, "4 blocks"));

    CommandLineRun put = put("--require", "safe");
    assertThat(put.exitCode()).isEqualTo(2);
    assertThat(put.err()).contains("--require must be one of volatile, written, forced (was safe)");
  }
}
