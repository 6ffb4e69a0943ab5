package io.penstock.node.serve;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.CommandLineRun;
import io.penstock.node.config.NodeConfig;
import io.penstock.testkit.Eventually;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Two members with spaces, in a cluster whose engine is [FakeClusters].
@Timeout(60)
final class ClusterSpacesTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final String SPACES = """
      listen.port: 0
      admin.port: 0
      cluster: %s
      cluster.node: %s
      cluster.port: 0
      dram: 4MiB
      reserve.blocks: 64
      spaces:
        wide: {model: open, block.bytes: 4KiB}
        tenant: {model: tenant, block.bytes: 4KiB, cluster.quota: 64KiB}
      """;

  @TempDir
  private Path folder;

  private final List<Node> nodes = new ArrayList<>();

  @AfterEach
  void close() {
    nodes.forEach(node -> node.close().block(SOON));
  }

  private Node start(String cluster, String name) throws Exception {
    Node node = requireNonNull(Node.start(NodeConfig.resolve(
        Files.writeString(folder.resolve(name + ".yaml"), SPACES.formatted(cluster, name)), Map.of(), Map.of()))
        .block(SOON));
    nodes.add(node);
    return node;
  }

  private static String at(Node node, String... arguments) {
    CommandLineRun run = CommandLineRun.with(Map.of("PENSTOCK_BLOCK_BYTES", "4KiB"), new byte[0],
        Stream.concat(Stream.of(arguments), Stream.of("--connect", "127.0.0.1:" + node.port())).toArray(String[]::new));
    assertThat(run.exitCode()).as(run.out() + run.err()).isZero();
    return run.out();
  }

  private static String cluster(Node node, String... arguments) {
    CommandLineRun run = clusterRun(node, arguments);
    assertThat(run.exitCode()).as(run.out() + run.err()).isZero();
    return run.out();
  }

  private static CommandLineRun clusterRun(Node node, String... arguments) {
    return CommandLineRun.of(
        Stream.concat(Stream.concat(Stream.of("cluster"), Stream.of(arguments)), Stream.of("127.0.0.1:" + node.port()))
            .toArray(String[]::new));
  }

  private static int present(Node node, String model, String ids) {
    JsonNode match = JsonMapper.shared()
        .readTree(at(node, "match", "--model", model, "--trace-id", ids, "--json"));
    return match.get("present").asInt();
  }

  @Test
  void aTenant_keepsItsQuotaOverAllMembers_andOthersKeepTheirBlocks() throws Exception {
    Node a = start("quotas", "a");
    Node b = start("quotas", "b");
    at(a, "put", "--model", "open", "--count", "40");
    at(a, "put", "--model", "tenant", "--count", "12");
    at(b, "put", "--model", "tenant", "--count", "12", "--seed", "100");
    Eventually.holds("the sum is within the quota", SOON,
        () -> present(a, "tenant", "0-11") + present(b, "tenant", "100-111") <= 16);
    assertThat(present(a, "tenant", "0-11") + present(b, "tenant", "100-111")).isGreaterThanOrEqualTo(12);
    assertThat(present(a, "tenant", "11")).as("the newest").isEqualTo(1);
    assertThat(present(a, "open", "0-39")).isEqualTo(40);
    Eventually.holds("any member tells it", SOON, () -> {
      JsonNode quota = JsonMapper.shared().readTree(cluster(b, "stat", "--json")).at("/quotas/0");
      return quota.get("space").asString().equals("tenant") && quota.get("members").asInt() == 2
          && quota.get("quotaBytes").asInt() == 64 << 10 && quota.get("bytes").asInt() <= 64 << 10;
    });
    assertThat(cluster(a, "stat")).containsPattern("BYTES +QUOTA +MEMBERS +SPACE\n.* 64.0 KiB +2 +tenant\n");
  }

  @Test
  void removal_isOfOneSpace_atEachMember() throws Exception {
    Node a = start("removed", "a");
    Node b = start("removed", "b");
    for (Node node : nodes) {
      at(node, "put", "--model", "open", "--count", "4");
      at(node, "put", "--model", "tenant", "--count", "4");
    }
    assertThat(cluster(b, "remove", "--space", "tenant")).containsPattern("remove +done +4 ");
    for (Node node : nodes) {
      assertThat(present(node, "tenant", "0-3")).isZero();
      assertThat(present(node, "open", "0-3")).isEqualTo(4);
    }
    CommandLineRun unknown = clusterRun(a, "remove", "--space", "no such");
    assertThat(unknown.exitCode()).isEqualTo(1);
    assertThat(unknown.out()).contains("the node has no space no such");
    cluster(a, "remove", "--space", "wide", "--pattern", "no hex");
    assertThat(present(a, "open", "0-3")).isEqualTo(4);
  }
}
