package io.penstock.node.serve;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.CommandLineRun;
import io.penstock.node.config.AdminSettings;
import io.penstock.node.config.ClusterSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.config.RankSettings;
import io.penstock.node.setting.Setting;
import io.penstock.node.shape.LayoutSettings;
import io.penstock.testkit.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Nodes of a cluster, by [FakeClusters], that keep one registry, and a rank that knows both.
@Timeout(60)
final class RegistryInClusterTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  private final List<Node> nodes = new ArrayList<>();

  @AfterEach
  void close() {
    nodes.forEach(node -> node.close().block(SOON));
  }

  private Node start(Map<Setting<?>, String> more) {
    Map<Setting<?>, String> flags = new HashMap<>(Map.of(NodeSettings.LISTEN_PORT, "0", AdminSettings.PORT, "off",
        NodeSettings.DRAM, "1MiB", LayoutSettings.BLOCK_BYTES, "4KiB"));
    flags.putAll(more);
    Node node = requireNonNull(Node.start(NodeConfig.resolve(null, Map.of(), flags)).block(SOON));
    nodes.add(node);
    return node;
  }

  private Node member(String name) {
    return start(Map.of(ClusterSettings.CLUSTER, "registries", ClusterSettings.NODE_NAME, name, ClusterSettings.PORT,
        "0", NodeSettings.REGISTRY, "true"));
  }

  private static String registry(Node node) {
    return CommandLineRun.of("registry", "--connect", "127.0.0.1:" + node.port()).out();
  }

  @Test
  void aRank_isShownByEachNode_andGoesOnWhenItsNodeEnds_andLeavesAll() {
    Node one = member("one");
    Node other = member("other");
    Node rank = start(Map.of(RankSettings.SIDE, "decode", RankSettings.INSTANCE, "d", RankSettings.REGISTRY,
        "127.0.0.1:%d,127.0.0.1:%d".formatted(one.port(), other.port())));
    assertThat(registry(one)).contains("ready", "127.0.0.1:" + rank.port());
    Eventually.holds("the other shows it", () -> registry(other).contains("127.0.0.1:" + rank.port()));
    Node late = member("late");
    assertThat(registry(late)).as("one that has just joined").contains("127.0.0.1:" + rank.port());

    one.close().block(SOON);

    assertThat(registry(other)).contains("127.0.0.1:" + rank.port());
    rank.close().block(SOON);
    Eventually.holds("it has left", () -> !registry(late).contains("127.0.0.1:" + rank.port()));
    assertThat(registry(other)).doesNotContain("127.0.0.1:" + rank.port());
  }
}
