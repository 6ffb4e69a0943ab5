package io.penstock.node.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.node.AdminRequest;
import io.penstock.node.CommandLineRun;
import io.penstock.node.cli.ExitCode;
import io.penstock.testkit.MountedDisk;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A node whose disk fills up, goes away, or does not answer: it lives, no put fails, and it keeps what it promised.
/// Mounts small disks, and is skipped where that is not allowed.
@Timeout(180)
final class ServeDiskTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  /// A little more than what a node leaves free.
  private static final int DISK_MEBIBYTES = 288;
  private static final int FILLED_BYTES = 30 << 20;
  private static final int BLOCKS = 600;
  /// As many as memory has room for beside the stored ones.
  private static final int WAITING = 100;

  @TempDir
  private Path folder;
  private int loads;

  @Test
  void diskThatFillsUp_andGoesAway_costsNoPut_andComesBack() throws Exception {
    MountedDisk disk = MountedDisk.inMemory(folder.resolve("memory"), DISK_MEBIBYTES);
    assumeTrue(disk != null, "nothing can be mounted here");
    try (disk) {
      Path blocks = disk.path().resolve("ssd");
      try (NodeProcess node = start(blocks, "chronicle", "write_through")) {
        assertThat(load(node)).as(node::said).isEqualTo(BLOCKS);

        Path filler = Files.write(disk.path().resolve("filler"), new byte[FILLED_BYTES]);
        assertThat(load(node)).as("blocks on a full disk").isLessThan(BLOCKS);
        assertState(node, "degraded");
        assertThat(load(node)).isZero();
        Files.delete(filler);
        awaitState(node, "active");
        assertThat(load(node)).isEqualTo(BLOCKS);

        Path away = Files.move(blocks, disk.path().resolve("away"));
        assertThat(load(node)).as("blocks in a folder that went away").isLessThan(BLOCKS);
        assertState(node, "degraded");
        assertThat(load(node)).isZero();
        assertKept(node);
        Files.move(away, blocks);
        awaitState(node, "active");
        assertThat(load(node)).isEqualTo(BLOCKS);

        assertKept(node);
        assertThat(node.said()).contains("level ssd is degraded: ", "level ssd is active");
        assertNothingUnderWay(node);
        awaitSynced(node);
        node.terminate();
        assertThat(node.exitCode()).as(node.said()).isZero();
      }
      try (NodeProcess again = start(blocks, "chronicle", "write_through")) {
        assertKept(again);
      }
    }
  }

  @Tag("proof")
  @ParameterizedTest
  @ValueSource(strings = {"chronicle", "plain"})
  void diskThatDoesNotAnswer_costsNoPut_andComesBack(String engine) throws Exception {
    onAFrozenDisk(engine, "write_through", (disk, node) -> {
      assertThat(load(node)).as("blocks on a disk that does not answer").isLessThan(BLOCKS);
      awaitState(node, "off");
      assertThat(load(node)).isZero();
      disk.thaw();
      awaitState(node, "active");
      assertThat(load(node)).isEqualTo(BLOCKS);
      assertKept(node);
      assertThat(node.said()).contains("level ssd is off: no answer within 5000 ms", "level ssd is active");
      assertNothingUnderWay(node);
      node.terminate();
      assertThat(node.exitCode()).as(node.said()).isZero();
    });
  }

  @Tag("proof")
  @ParameterizedTest
  @ValueSource(strings = {"chronicle", "plain"})
  void nodeThatIsToEnd_whileItsDiskDoesNotAnswer_saysSo_andEnds(String engine) throws Exception {
    onAFrozenDisk(engine, "write_through", (disk, node) -> {
      try {
        load(node);
        awaitState(node, "off");
        node.terminate();
        awaitSaid(node, "could not close store ssd within 10000 ms");
        assertThat(node.said()).containsOnlyOnce("store ssd is left as it is: its disk does not answer")
            .contains("could not close store ssd within 10000 ms: java.io.IOException: its disk does not answer");
      } finally {
        disk.thaw(); // until then the system keeps the process
      }
      assertThat(node.exitCode()).as(node.said()).isEqualTo(ExitCode.INPUT_OUTPUT);
    });
  }

  @Tag("proof")
  @ParameterizedTest
  @ValueSource(strings = {"chronicle", "plain"})
  void nodeThatIsToEnd_whileBlocksWaitForADiskThatHasStopped_saysWhatItLeaves_andEnds(String engine) throws Exception {
    onAFrozenDisk(engine, "exclusive", (disk, node) -> {
      try {
        load(node, WAITING);
        assertState(node, "active");
        node.terminate();
        awaitSaid(node, "could not close store ssd within 10000 ms");
        assertThat(node.said()).containsOnlyOnce("level ssd is off: no answer within 5000 ms")
            .containsPattern(
                "\\d+ blocks \\(\\d+ bytes\\) that were on their way to the disk had not got there in time, and may "
                    + "be gone");
      } finally {
        disk.thaw();
      }
      assertThat(node.exitCode()).as(node.said()).isEqualTo(ExitCode.INPUT_OUTPUT);
    });
  }

  private static void awaitSaid(NodeProcess node, String sentence) throws InterruptedException {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!node.said().contains(sentence) && System.nanoTime() < deadline) {
      node.pause();
    }
  }

  /// What happens to a node whose disk does not answer.
  private interface OnDisk {
    void run(MountedDisk disk, NodeProcess node) throws Exception;
  }

  /// The node has put some blocks before its disk stopped.
  private void onAFrozenDisk(String engine, String mode, OnDisk test) throws Exception {
    MountedDisk disk = MountedDisk.inAFile(folder.resolve("file"), folder.resolve("image"), 2 * DISK_MEBIBYTES);
    assumeTrue(disk != null, "nothing can be mounted here");
    try (disk; NodeProcess node = start(disk.path().resolve("ssd"), engine, mode)) {
      assertThat(load(node)).isEqualTo(mode.equals("write_through") ? BLOCKS : 0);
      disk.freeze();
      test.run(disk, node);
    }
  }

  /// Puts blocks that are new to the node.
  ///
  /// @return how many of the receipts said that they are on disk
  private int load(NodeProcess node) throws IOException {
    return load(node, BLOCKS);
  }

  private int load(NodeProcess node, int blocks) throws IOException {
    CommandLineRun load =
        client(node, "load", "--blocks", String.valueOf(blocks), "--seed", String.valueOf(++loads), "--json");
    assertThat(load.exitCode()).as(load.err()).isZero();
    JsonNode stored = JsonMapper.shared().readTree(load.out()).get("stored");
    int onDisk = stored.path("written").asInt();
    assertThat(onDisk + stored.path("volatile").asInt()).as("receipts").isEqualTo(blocks);
    return onDisk;
  }

  private void assertKept(NodeProcess node) throws IOException {
    for (int seed = 1; seed <= loads; seed++) {
      CommandLineRun check = client(node, "check", "--seed", String.valueOf(seed));
      assertThat(check.exitCode()).as("load %d: %s%s", seed, check.out(), check.err()).isZero();
    }
  }

  private static void assertNothingUnderWay(NodeProcess node) throws Exception {
    String metrics = get(node, "metrics");
    assertThat(metrics).contains("penstock_budget_in_flight_bytes{budget=\"node\"} 0.0", "penstock_wire_streams 0.0",
        "penstock_level_active{level=\"ssd\",medium=\"disk\",tier=\"stack\"} 1.0");
    String stored = line(metrics, "penstock_level_stored_blocks{level=\"dram\"");
    assertThat(line(metrics, "penstock_arena_claimed_slots")).as("slots lent, all of them to stored blocks")
        .isEqualTo(stored);
  }

  /// A node that ends while no sync has succeeded since the last failed one says so, and exits with an error.
  private static void awaitSynced(NodeProcess node) throws Exception {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    String unsynced = line(get(node, "metrics"), "penstock_disk_unsynced_bytes");
    while (Double.parseDouble(unsynced) > 0 && System.nanoTime() < deadline) {
      node.pause();
      unsynced = line(get(node, "metrics"), "penstock_disk_unsynced_bytes");
    }
    assertThat(Double.parseDouble(unsynced)).as("unsynced bytes").isZero();
  }

  private static String line(String metrics, String name) {
    return metrics.lines().filter(line -> line.startsWith(name)).map(line -> line.substring(line.lastIndexOf(' ')))
        .findFirst().orElseThrow();
  }

  private static void assertState(NodeProcess node, String state) throws Exception {
    assertThat(state(node)).isEqualTo(state);
  }

  private static void awaitState(NodeProcess node, String state) throws Exception {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    String now = state(node);
    while (!now.equals(state) && System.nanoTime() < deadline) {
      node.pause();
      now = state(node);
    }
    assertThat(now).as(() -> node.said()).isEqualTo(state);
  }

  /// The state of the disk as a probe sees it; the node is ready whatever it is.
  private static String state(NodeProcess node) throws Exception {
    JsonNode health = JsonMapper.shared().readTree(get(node, "health"));
    assertThat(health.get("state").asString()).isEqualTo("ready");
    String state = health.at("/tiers/0/levels/1/state").asString();
    assertThat(health.get("degraded").asBoolean()).isEqualTo(!state.equals("active"));
    return state;
  }

  private static String get(NodeProcess node, String path) throws Exception {
    HttpResponse<String> answer = AdminRequest.get(node.adminPort(), "/" + path);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.body();
  }

  private CommandLineRun client(NodeProcess node, String command, String... flags) {
    List<String> all =
        new ArrayList<>(List.of(command, "--connect", "127.0.0.1:" + node.port(), "--window-blocks", "32"));
    all.addAll(PatternClient.SHAPE);
    List<String> given = Stream.of(flags).toList();
    int seed = given.indexOf("--seed");
    all.addAll(command.equals("check") ? List.of() : given);
    all.addAll(List.of("--receipts", folder.resolve("receipts-" + given.get(seed + 1)).toString()));
    return CommandLineRun.of(all.toArray(String[]::new));
  }

  /// Without a high water, above which blocks would leave before the disk is full.
  private NodeProcess start(Path disk, String engine, String mode) throws IOException {
    List<String> flags = new ArrayList<>(PatternClient.SHAPE);
    flags.addAll(List.of("--dram", "256 blocks", "--ssd", "unbounded", "--ssd-dir", disk.toString(),
        "--ssd-segment-bytes", "1MiB",
        "--ssd-engine", engine, "--stack-mode", mode, "--window-blocks", "32", "--ssd-disk-high", "100"));
    return NodeProcess.start(Files.createDirectories(folder.resolve("said")), flags.toArray(String[]::new));
  }
}
