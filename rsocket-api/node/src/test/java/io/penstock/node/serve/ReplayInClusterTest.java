package io.penstock.node.serve;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.CommandLineRun;
import io.penstock.node.config.AdminSettings;
import io.penstock.node.config.ClusterSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.setting.Setting;
import io.penstock.node.shape.LayoutSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Traces against the nodes of a cluster, whose engine is [FakeClusters].
@Timeout(120)
final class ReplayInClusterTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  private final List<Node> nodes = new ArrayList<>();

  @AfterEach
  void close() {
    nodes.forEach(node -> node.close().block(SOON));
  }

  private Node start(String cluster, String name) {
    Map<Setting<?>, String> flags = new HashMap<>(Map.of(NodeSettings.LISTEN_PORT, "0", AdminSettings.PORT, "off",
        NodeSettings.DRAM, "16MiB", LayoutSettings.BLOCK_BYTES, "4KiB"));
    if (!cluster.isEmpty()) {
      flags.putAll(Map.of(ClusterSettings.CLUSTER, cluster, ClusterSettings.NODE_NAME, name, ClusterSettings.PORT,
          "0"));
    }
    Node node = requireNonNull(Node.start(NodeConfig.resolve(null, Map.of(), flags)).block(SOON));
    nodes.add(node);
    return node;
  }

  private static String place(Node node) {
    return "127.0.0.1:" + node.port();
  }

  private static CommandLineRun replay(String... flags) {
    return CommandLineRun.of(Stream.concat(Stream.of("replay", "--block-bytes", "4KiB"), Stream.of(flags))
        .toArray(String[]::new));
  }

  private static JsonNode clean(CommandLineRun run) throws Exception {
    assertThat(run.exitCode()).as(run.out() + run.err()).isZero();
    return JsonMapper.shared().readTree(run.out());
  }

  @Test
  void trace_isServedByAllNodes_andItsBlocksComeFromEither() throws Exception {
    Node one = start("replayed", "one");
    Node other = start("replayed", "other");
    Node third = start("replayed", "third");
    String[] flags = {"--limit", "12", "--cluster", "--warm", "--json", "--connect"};

    JsonNode cold = clean(replay(Stream.concat(Stream.of(flags), Stream.of("127.0.0.1:1," + place(one)))
        .toArray(String[]::new)));
    JsonNode warm = clean(replay(Stream.concat(Stream.of(flags), Stream.of(place(third))).toArray(String[]::new)));

    assertThat(cold.get("requests").asInt()).isEqualTo(12);
    assertThat(cold.get("bytesVerified").asLong()).isEqualTo(4096 * cold.get("blockRefs").asLong());
    assertThat(cold.get("hits").asLong()).isBetween(1L, cold.get("blockRefs").asLong() - 1);
    assertThat(cold.get("repeatedPasses").asInt()).isZero();
    assertThat(cold.get("parties").asString()).isEqualTo("decode and prefill here, nodes of the cluster at"
        + " 127.0.0.1:1, " + place(one) + ", cluster replayed of 3 nodes");
    assertThat(warm.get("hits").asLong()).as("all is there from before")
        .isEqualTo(warm.get("blockRefs").asLong());
    assertThat(FakeClusters.of("replayed")).hasSize(3).allMatch(member -> !member.visible().isEmpty());
    assertThat(CommandLineRun.of("stat", "--connect", place(other)).out()).isNotEmpty();
  }

  @Test
  void clusterThatIsNotThere_isSaidSo() {
    Node alone = start("", "");

    assertThat(replay("--cluster", "--connect", place(alone)).err())
        .contains("cluster must be a name in the settings of the node at " + place(alone));
    assertThat(replay("--cluster", "--connect", "127.0.0.1:1").err()).contains(
        "no node is listening at 127.0.0.1:1 (");
    assertThat(replay("--cluster").err()).contains(
        "--cluster must be left out without --connect, for a new node is in none (was given)");
    assertThat(replay("--connect", "127.0.0.1:1,127.0.0.1:2").err()).contains(
        "--connect must be one address without --cluster (was 2)");
  }
}
