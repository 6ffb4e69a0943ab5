package io.penstock.lab.attack;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.lab.LabRun;
import io.penstock.node.CommandLineRun;
import io.penstock.node.config.AdminSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.serve.Node;
import io.penstock.node.setting.Setting;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// `penstock attack` against a node in this process. Times are those of a busy machine here, so the test of all kinds
/// looks at the other bounds; the proof of a node in a process of its own looks at times, too.
@Timeout(120)
final class AttackCommandTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final Map<String, String> ENVIRONMENT =
      Map.of("PENSTOCK_BLOCK_BYTES", "4KiB", "PENSTOCK_LAYERS", "4", "PENSTOCK_WINDOW_BLOCKS", "8");
  private static final JsonMapper JSON = JsonMapper.shared();

  private Node node;

  @BeforeEach
  void start() {
    Map<Setting<?>, String> flags = new HashMap<>();
    flags.put(NodeSettings.LISTEN_PORT, "0");
    flags.put(AdminSettings.PORT, "0");
    flags.put(NodeSettings.DRAM, "1000 blocks");
    flags.put(NodeSettings.REGISTRY, "true");
    node = Objects.requireNonNull(Node.start(NodeConfig.resolve(null, ENVIRONMENT, flags)).block(SOON));
  }

  @AfterEach
  void stop() {
    node.close().block(SOON);
  }

  @Test
  void everyKind_leavesAGoodClientItsBlocksAndTheNodeIdle() {
    List<String> played = Arrays.stream(AttackKind.values()).map(AttackKind::word).toList();
    CommandLineRun run = attack("--minutes", "0.1", "--seed", "7", "--json");

    assertThat(run.exitCode()).as(run.err()).isIn(0, 1);
    JsonNode report = JSON.readTree(run.out());
    List<String> kinds = report.get("phases").findValues("kind").stream().map(JsonNode::asString).toList();
    assertThat(kinds).containsSubsequence(played);
    assertThat(broken(report)).as(run.err()).isEmpty();
    assertThat(report.get("seed").asInt()).isEqualTo(7);
    assertThat(report.get("keptBlocks").asInt()).isGreaterThan(900);
    assertThat(report.at("/quiet/node/residentBytes").asLong()).as("resident memory").isPositive();
    assertThat(report.get("phases")).allSatisfy(phase -> {
      assertThat(phase.at("/puts/calls").asInt()).as(phase.toString()).isPositive();
      assertThat(phase.at("/gets/calls").asInt()).as(phase.toString()).isPositive();
    });
  }

  /// Bounds that broke, but those of times.
  private static List<String> broken(JsonNode report) {
    List<String> broken = new ArrayList<>();
    report.get("phases").forEach(phase -> phase.get("broken").forEach(bound -> {
      if (!bound.asString().startsWith("slowest ")) {
        broken.add(phase.get("kind").asString() + ": " + bound.asString());
      }
    }));
    return broken;
  }

  @Test
  void table_hasARowForEachAttack() {
    CommandLineRun run = attack("--minutes", "0.02", "--kinds", "bad-frames");

    assertThat(run.out().lines().toList()).hasSizeGreaterThan(4)
        .allMatch(line -> line.length() <= 80)
        .first().asString().matches("ATTACK +PUT +X +GET +X +KEPT +ERRORS +IDLE IN +VERDICT");
    assertThat(run.out()).contains("\nnone ").contains("\nbad-frames ").contains("seed 1\n");
    assertThat(run.err()).contains("attack: 1 phase of ").contains("attack: bad-frames\n");
  }

  @Test
  void senselessOrders_areRefused() {
    assertThat(LabRun.of("attack", "192.0.2.1:7733"))
        .satisfies(run -> assertThat(run.exitCode()).isEqualTo(2))
        .satisfies(run -> assertThat(run.err()).contains(
            "--anywhere must be given for a node on another host, which others may use (was without: "
                + "192.0.2.1:7733"));
    assertThat(attack("--kinds", "nonsense").err()).contains("idle-gets").contains("(was nonsense)");
    assertThat(attack("--minutes", "0.01").err()).contains("--minutes must be from 0.02 to 1440 (was 0.01)");
    assertThat(LabRun.of("attack", "127.0.0.1:1").exitCode()).as("no node").isEqualTo(69);
    assertThat(LabRun.of("attack", "127.0.0.1:" + node.port(), "--layers", "3").err())
        .contains("--layers must be 4, as at the node");
  }

  private CommandLineRun attack(String... flags) {
    List<String> arguments = new ArrayList<>(List.of("attack", "127.0.0.1:" + node.port(), "--admin",
        "127.0.0.1:" + node.adminPort().getAsInt()));
    arguments.addAll(List.of(flags));
    return LabRun.with(ENVIRONMENT, new byte[0], arguments.toArray(String[]::new));
  }
}
