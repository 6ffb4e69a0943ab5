package io.penstock.node.serve;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.CommandLineRun;
import io.penstock.node.config.AdminSettings;
import io.penstock.node.config.ClusterSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.shape.LayoutSettings;
import io.penstock.testkit.Eventually;
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

/// Commands with `--cluster` over two members of a cluster whose engine is [FakeClusters].
@Timeout(60)
final class ClusterCommandsTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  @TempDir
  private Path folder;

  private final List<Node> nodes = new ArrayList<>();

  @AfterEach
  void close() {
    nodes.forEach(node -> node.close().block(SOON));
  }

  private Node start(String cluster, String name) {
    Node node = requireNonNull(Node.start(NodeConfig.resolve(null, Map.of(), Map.of(NodeSettings.LISTEN_PORT, "0",
        AdminSettings.PORT, "off", ClusterSettings.PORT, "0", NodeSettings.DRAM, "1MiB", LayoutSettings.BLOCK_BYTES,
        "4KiB", NodeSettings.POLICY, "sessions", ClusterSettings.CLUSTER, cluster, ClusterSettings.NODE_NAME, name)))
        .block(SOON));
    nodes.add(node);
    return node;
  }

  private static CommandLineRun run(int code, Node node, String... arguments) {
    CommandLineRun run = CommandLineRun.with(Map.of("PENSTOCK_BLOCK_BYTES", "4KiB"), new byte[0],
        Stream.concat(Stream.of(arguments), Stream.of("--connect", "127.0.0.1:" + node.port())).toArray(String[]::new));
    assertThat(run.exitCode()).as(run.out() + run.err()).isEqualTo(code);
    return run;
  }

  private static JsonNode json(CommandLineRun run) {
    return JsonMapper.shared().readTree(run.out());
  }

  /// Blocks 0 to 3 at one member, 4 to 7 at the other.
  private void halves(String cluster) {
    run(0, start(cluster, "a"), "put", "--count", "4");
    run(0, start(cluster, "b"), "put", "--count", "4", "--seed", "4");
    Eventually.holds("the cluster knows the blocks", () -> FakeClusters.of(cluster).stream()
        .allMatch(member -> member.visible().size() == 4));
  }

  private static long leases(Node node) {
    return json(run(0, node, "stat", "--json")).at("/stat/holds/leases").asLong();
  }

  @Test
  void leases_areOfAllMembers_andAnotherCommandReadsUnderThem() {
    halves("leased");
    Node a = nodes.getFirst();
    Node b = nodes.getLast();
    JsonNode match = json(run(0, a, "match", "--cluster", "--trace-id", "0-9", "--lease=5m", "--prefetch", "--json"));
    assertThat(match.get("prefix").asInt()).isEqualTo(8);
    assertThat(match.at("/lease/blocks").asInt()).isEqualTo(8);
    String id = match.at("/lease/id").asString();
    assertThat(List.of(leases(a), leases(b))).containsExactly(1L, 1L);
    assertThat(run(0, b, "remove", "--cluster", "--all").out())
        .isEqualTo("0 blocks removed, 8 leased, 0 being written\n");
    run(0, b, "get", "--cluster", "--lease", id, "--trace-id", "0-7", "--discard", "--verify");
    assertThat(run(1, b, "get", "--cluster", "--lease", "17", "--trace-id", "0-7", "--discard").err())
        .contains("lease must be live to be read (was 17");
    assertThat(run(0, b, "remove", "--cluster", "--all", "--force").out())
        .isEqualTo("8 blocks removed, 0 leased, 0 being written\n");
  }

  @Test
  void pinsAndRemovals_areOfAllMembers() {
    halves("pinned");
    Node a = nodes.getFirst();
    assertThat(run(1, a, "pin", "--cluster", "--hard", "--trace-id", "2-5,9").out())
        .isEqualTo("4 of 5 blocks pinned\n");
    for (Node node : nodes) {
      assertThat(json(run(0, node, "stat", "--json")).at("/stat/holds/hardPinned").asInt()).isEqualTo(2);
    }
    run(0, a, "put", "--cluster", "--hard", "--count", "1", "--seed", "100");
    assertThat(run(0, a, "unpin", "--cluster", "--trace-id", "2-6,100").out())
        .isEqualTo("5 of 6 blocks unpinned, 1 had no pin, or it had expired\n");
    assertThat(run(1, a, "remove", "--cluster", "--trace-id", "3-4,50").out()).isEqualTo("2 of 3 blocks removed\n");
    assertThat(run(0, a, "match", "--cluster", "--trace-id", "0-7").out()).isEqualTo("prefix 3 of 8, present 6\n");
    assertThat(run(0, a, "remove", "--cluster", "--regex", ".").out())
        .isEqualTo("7 blocks removed, 0 leased, 0 being written\n");
  }

  @Test
  void sessions_areWrittenOutAndReadIn_fromAllMembers() {
    halves("sessions");
    Node a = nodes.getFirst();
    Node b = nodes.getLast();
    Path out = folder.resolve("chat");
    assertThat(run(0, a, "export", "chat", "--cluster", "--trace-id", "0-7", "--to", out.toString()).out())
        .startsWith("8 blocks, 32.0 KiB, verified, in ");
    run(0, a, "remove", "--cluster", "--all");
    assertThat(run(0, b, "import", out.toString(), "--cluster", "--session", "again").out())
        .startsWith("8 blocks, 32.0 KiB, verified: 8 stored, 0 there already");
    run(0, a, "get", "--cluster", "--trace-id", "0-7", "--discard", "--verify");
    CommandLineRun found = CommandLineRun.of("export", "again", "--cluster", "--to", folder.resolve("again").toString(),
        "--connect", "127.0.0.1:" + a.port());
    assertThat(found.exitCode()).as(found.out() + found.err()).isZero();
    assertThat(found.out()).startsWith("8 blocks, ");
    CommandLineRun none = CommandLineRun.of("export", "other", "--cluster", "--to", folder.resolve("none").toString(),
        "--connect", "127.0.0.1:" + a.port());
    assertThat(none.exitCode()).as(none.out() + none.err()).isEqualTo(1);
  }

  @Test
  void loadsAndChecks_areOfAllMembers_andQuestionsAboutOneNodeSaySo() {
    halves("checked");
    Node a = nodes.getFirst();
    String receipts = folder.resolve("receipts").toString();
    run(0, a, "load", "--cluster", "--blocks", "40", "--seed", "3", "--receipts", receipts);
    assertThat(run(0, nodes.getLast(), "check", "--cluster", "--receipts", receipts).out()).contains("40");
    for (List<String> command : List.of(List.of("stat"), List.of("registry"),
        List.of("keep", "--request", "r", "--trace-id", "0"))) {
      CommandLineRun refused =
          run(2, a, Stream.concat(command.stream(), Stream.of("--cluster")).toArray(String[]::new));
      assertThat(refused.err()).contains("--cluster must be left out for a question about one node (was given)");
    }
  }
}
