package io.penstock.node.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.KvException;
import io.penstock.block.BlockKey;
import io.penstock.node.AdminRequest;
import io.penstock.node.CommandLineRun;
import io.penstock.tier.Receipt;
import io.penstock.tier.Receipt.Durability;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.json.JsonMapper;

/// A node of three levels in a process of its own: its end, its return, and folders that it must not take.
@Timeout(180)
final class ServeStackTest {
  private static final Duration SOON = Duration.ofSeconds(30);
  private static final int BLOCKS = 300;

  @TempDir
  private Path folder;

  @ParameterizedTest
  @CsvSource({"chronicle, exclusive", "plain, write_through"})
  void terminated_whileBlocksMove_endsThePutAndKeepsTheDisk(String engine, String mode) throws Exception {
    terminateWhileBlocksMove(engine, mode);
  }

  @Tag("proof")
  @ParameterizedTest
  @CsvSource({"plain, exclusive", "chronicle, write_through"})
  void terminatedInTheOtherModes_endsThePutAndKeepsTheDisk(String engine, String mode) throws Exception {
    terminateWhileBlocksMove(engine, mode);
  }

  private void terminateWhileBlocksMove(String engine, String mode) throws Exception {
    List<BlockKey> keys = PatternClient.keys(0, BLOCKS);
    try (NodeProcess node = start(engine, mode); PatternClient client = new PatternClient(node)) {
      List<Receipt> receipts = Objects.requireNonNull(client.put(keys).index().doOnNext(each -> {
        if (each.getT1() == 100) {
          node.terminate();
        }
      }).map(each -> each.getT2()).collectList().block(SOON));

      assertThat(receipts).extracting(Receipt::key).containsExactlyInAnyOrderElementsOf(keys);
      assertThat(receipts).extracting(Receipt::durability)
          .containsOnly(mode.equals("write_through") ? Durability.WRITTEN : Durability.VOLATILE);
      assertThat(node.exitCode()).isZero();
      assertThat(node.said()).contains("made the folder " + ssd() + "\n");
      // A busy machine may have slow streams
      assertThat(node.said().lines().filter(line -> !line.contains(" StreamReports slow "))
          .map(line -> line.replaceFirst("^[0-9]+ blocks", "some blocks")).toList()) // 30, unless some still move
          .endsWith(mode.equals("write_through")
              ? new String[] {"draining", "stopped"}
              : new String[] {"draining", "some blocks in memory alone will be gone", "stopped"});
    }

    try (NodeProcess again = start(engine, mode); PatternClient client = new PatternClient(again)) {
      // The newest: the ledger had assigned all the others to the disk
      int inMemory = mode.equals("write_through") ? 0 : 10 + 20;
      assertThat(client.read(keys)).as("what is on disk")
          .containsExactlyInAnyOrderElementsOf(keys.subList(0, BLOCKS - inMemory));
      again.terminate();
      assertThat(again.exitCode()).isZero();
      assertThat(again.said()).doesNotContain("made the folder");
    }
  }

  @Test
  void figures_nameTheLevels_andNoOtherNodeMayHaveTheFolder() throws Exception {
    try (NodeProcess node = start("chronicle", "exclusive"); PatternClient client = new PatternClient(node)) {
      client.put(PatternClient.keys(0, 100)).blockLast(SOON);
      assertThat(client.read(PatternClient.keys(0, 100))).hasSize(100);

      var tier = JsonMapper.shared().readTree(http(node, "/health").body()).get("tiers").get(0);
      assertThat(tier.get("name").asString()).isEqualTo("stack");
      assertThat(tier.get("levels")).extracting(level -> level.get("name").asString()).containsExactly("hbm", "dram",
          "ssd");
      assertThat(tier.get("levels")).extracting(level -> level.get("medium").asString()).containsExactly("device",
          "host",
          "disk");
      assertThat(tier.get("levels")).extracting(level -> level.get("blocks").asInt()).containsExactly(10, 20, 70);
      assertThat(tier.get("levels")).extracting(level -> level.get("capacityBlocks").asInt()).containsExactly(10, 20,
          1_000);
      int hits = 0;
      for (var level : tier.get("levels")) {
        hits += level.get("hits").asInt();
      }
      assertThat(hits).isEqualTo(tier.get("hits").asInt()).isEqualTo(100);

      String metrics = http(node, "/metrics").body();
      List.of("hbm,device,10", "dram,host,20", "ssd,disk,1000").stream().map(level -> level.split(","))
          .forEach(level -> assertThat(metrics)
              .contains("penstock_level_capacity_blocks{level=\"%s\",medium=\"%s\",tier=\"stack\"} %s.0\n"
                  .formatted((Object[]) level)));
      assertThat(metrics).contains("penstock_level_visible_blocks{level=\"ssd\",medium=\"disk\",tier=\"stack\"} 70.0\n")
          .contains("penstock_tier_references_total{medium=\"device\",result=\"hit\",tier=\"stack\"} 100.0\n")
          .containsPattern("penstock_memory_taken_bytes\\{pages=\"[a-z0-9_]+\"} 3\\.3554432E7\n")
          .containsPattern("penstock_memory_fallbacks_total \\d");

      String[] stat = {"stat", "--connect", "127.0.0.1:" + node.port(), "--block-bytes", "4KiB", "--layers", "4"};
      assertThat(CommandLineRun.of(stat).out()).containsPattern("\nlevel hbm +10 of 10 blocks; none ")
          .containsPattern("\nlevel dram +20 of 20 blocks; none ")
          .containsPattern("\nlevel ssd +70 of 1,000 blocks; none ");
      assertThat(CommandLineRun.of(stat).out()).containsPattern(
          "\nmemory +32.0 MiB: [^;]*; on any\\s+node,\\s+not\\s+locked\n");
      var json = JsonMapper.shared().readTree(
          CommandLineRun.of(Stream.concat(Stream.of(stat), Stream.of("--json")).toArray(String[]::new)).out());
      assertThat(json.at("/stat/levels")).extracting(level -> level.get("blocks").asInt()).containsExactly(10, 20, 70);
      assertThat(json.at("/stat/memory/0/bytes").asLong()).isEqualTo(32 << 20);
      assertThat(json.at("/stat/memory/0/locked").isBoolean()).isTrue();
      assertFolderIsRefused(node);
      assertThat(http(node, "/health").statusCode()).isEqualTo(200);
    }
  }

  @Test
  void largePagesOrNone_thatAreNotSetAside_endTheStart() throws IOException {
    Path pages = Path.of("/proc/sys/vm/nr_hugepages");
    assumeTrue(Files.exists(pages) && Files.readString(pages).strip().equals("0"), "large pages are set aside here");
    CommandLineRun run = CommandLineRun
        .of(arguments("plain", "exclusive", "--memory-pages", "huge", "--listen-port", "0", "--admin-port", "off"));
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).startsWith("made the folder " + ssd()
        + "\nserve: memory.pages must be auto or plain where large pages are not set aside for all of dram"
        + " (was huge, from --memory-pages): mapped memory: 33554432 bytes of host memory must be available (was "
        + "refused): pages of 1 GiB: ")
        .contains("pages of 2 MiB: 16 must be free (was 0)");
  }

  @Test
  void nodeOfMemory_thatIsNotThere_endsTheStart() {
    CommandLineRun run = CommandLineRun
        .of(arguments("plain", "exclusive", "--memory-numa", "1023", "--listen-port", "0", "--admin-port", "off"));
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).startsWith("serve: memory.numa must be ").endsWith(" (was 1023, from --memory-numa)\n");
  }

  @Test
  void refusedNode_leavesNoFolder() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      CommandLineRun run =
          CommandLineRun.of(arguments("plain", "exclusive", "--listen-port", String.valueOf(taken.getLocalPort()),
              "--admin-port", "off"));
      assertThat(run.exitCode()).as(run.err()).isEqualTo(74);
      assertThat(run.err()).contains("listen.port must be free for this user at 127.0.0.1");
    }
    CommandLineRun small =
        CommandLineRun.of(arguments("plain", "write_through", "--dram", "10 blocks", "--listen-port", "0"));
    assertThat(small.exitCode()).as(small.err()).isEqualTo(2);
    assertThat(small.err()).contains(
        "dram must be > hbm 10 blocks from --hbm, which it repeats when stack.mode is write_through (was 10 blocks, "
            + "from --dram)");
    CommandLineRun unbounded =
        CommandLineRun.of(arguments("plain", "exclusive", "--hbm", "unbounded", "--listen-port", "0"));
    assertThat(unbounded.err()).contains("hbm must be a size, \"N blocks\", or 0 for off (was unbounded, from --hbm)");
    assertThat(ssd()).doesNotExist();
  }

  private void assertFolderIsRefused(NodeProcess holder) {
    CommandLineRun second =
        CommandLineRun.of(arguments("chronicle", "exclusive", "--listen-port", "0", "--admin-port", "off"));

    assertThat(second.exitCode()).isEqualTo(74);
    assertThat(second.err())
        .isEqualTo(("serve: ssd.dir must be a folder that no other process has open (was %1$s, from --ssd-dir): "
            + "journal %1$s must be opened by one process at a time (was open in process %2$d)%n")
            .formatted(ssd(), holder.pid()));
  }

  @Test
  void folderOfAnother_isRefusedAndLeftAsItWas() throws Exception {
    try (NodeProcess node = start("plain", "write_through"); PatternClient client = new PatternClient(node)) {
      client.put(PatternClient.keys(0, 10)).blockLast(SOON);
      node.terminate();
      assertThat(node.exitCode()).isZero();
    }

    assertRefused("engine chronicle` (was", "--ssd-engine", "chronicle");
    assertRefused("space of journal plain", "--model", "another");
    assertRefused("space of journal plain", "--layers", "2");

    try (NodeProcess node = start("plain", "write_through"); PatternClient client = new PatternClient(node)) {
      assertThat(client.read(PatternClient.keys(0, 10))).hasSize(10);
    }
  }

  private void assertRefused(String complaint, String... flags) {
    CommandLineRun run = CommandLineRun.of(arguments("plain", "write_through",
        Stream.concat(Stream.of(flags), Stream.of("--listen-port", "0", "--admin-port", "off"))
            .toArray(String[]::new)));

    assertThat(run.exitCode()).as("%s: %s", List.of(flags), run.err()).isEqualTo(74);
    assertThat(run.err())
        .startsWith(
            "serve: ssd.dir must be a folder of this engine, format, model and block shape, or a new one (was " + ssd())
        .contains(complaint).hasLineCount(1);
  }

  @Test
  void folderOfANewerRelease_isRefusedAndLeftAsItWas() throws Exception {
    Path format = Files.createDirectories(ssd()).resolve("format");
    Files.writeString(format, "penstock journal, format 3, engine plain\n");

    CommandLineRun run =
        CommandLineRun.of(arguments("plain", "exclusive", "--listen-port", "0", "--admin-port", "off"));

    assertThat(run.exitCode()).isEqualTo(74);
    assertThat(run.err())
        .contains("`penstock journal, format 2, engine plain` (was `penstock journal, format 3, engine plain`)")
        .hasLineCount(1);
    assertThat(format).hasContent("penstock journal, format 3, engine plain\n");
  }

  @Test
  void jvmWithoutTheFlagsOfChronicle_isToldAtOnceWhichTheyAre() throws Exception {
    List<String> flags = List.of(arguments("chronicle", "write_through"));
    try (NodeProcess node =
        NodeProcess.startWithoutAccess(folder, flags.subList(1, flags.size()).toArray(String[]::new))) {
      assertThat(node.exitCode()).isEqualTo(74);
      assertThat(node.said()).contains(
          "serve: ssd.engine must be one that this process can run (was chronicle, from --ssd-engine): engine "
              + "chronicle must be run by a JVM with --add-opens=java.base/java.lang.reflect=ALL-UNNAMED "
              + "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED "
              + "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED (was run without)");
      assertThat(ssd()).doesNotExist();
    }
  }

  @Test
  void journalDamagedWhileTheNodeWasAway_neverGivesAWrongByte() throws Exception {
    damageWhileAway("chronicle");
  }

  @Tag("proof")
  @Test
  void plainJournalDamagedWhileTheNodeWasAway_neverGivesAWrongByte() throws Exception {
    damageWhileAway("plain");
  }

  private void damageWhileAway(String engine) throws Exception {
    fill(engine);
    int damaged = damage(engine, 20, 5);

    try (NodeProcess node = start(engine, "write_through"); PatternClient client = new PatternClient(node)) {
      Reads reads = new Reads(client, PatternClient.keys(0, BLOCKS));

      assertThat(reads.whole.size()).as("whole of %d, with %d places damaged", BLOCKS, damaged).isBetween(1,
          BLOCKS - 1);
      assertThat(http(node, "/health").statusCode()).as("%s", http(node, "/health").body()).isEqualTo(200);
      client.put(PatternClient.keys(0, BLOCKS)).blockLast(SOON); // what was lost can be put again
      assertThat(client.read(PatternClient.keys(0, BLOCKS))).hasSize(BLOCKS);
    }
  }

  @Test
  void journalDamagedUnderARunningNode_neverGivesAWrongByte() throws Exception {
    damageUnderARunningNode("plain");
  }

  @Tag("proof")
  @Test
  void chronicleJournalDamagedUnderARunningNode_neverGivesAWrongByte() throws Exception {
    damageUnderARunningNode("chronicle");
  }

  private void damageUnderARunningNode(String engine) throws Exception {
    fill(engine);
    try (NodeProcess node = start(engine, "write_through"); PatternClient client = new PatternClient(node)) {
      int damaged = damage(engine, 20, 6);
      Reads first = new Reads(client, PatternClient.keys(0, BLOCKS));

      assertThat(first.failures).as("typed failures, with %d places damaged", damaged).isNotEmpty()
          .allSatisfy(failure -> assertThat(failure).isInstanceOf(KvException.class).hasMessageContaining("tier"));
      assertThat(first.whole).isNotEmpty();
      Reads second = new Reads(client, PatternClient.keys(0, BLOCKS));
      assertThat(second.failures).as("quarantined blocks are misses").isEmpty();
      assertThat(second.whole).isEqualTo(first.whole);
      assertThat(http(node, "/health").body()).as("found by a reader, or in the background before him")
          .contains("\"corrupt\":" + (BLOCKS - first.whole.size()));
    }
  }

  /// Blocks read one by one, for one that is damaged ends the stream that carries it.
  private static final class Reads {
    private final Set<BlockKey> whole = new HashSet<>();
    private final List<KvException> failures = new ArrayList<>();

    Reads(PatternClient client, List<BlockKey> keys) {
      for (BlockKey key : keys) {
        try {
          whole.addAll(client.read(List.of(key)));
        } catch (KvException e) {
          failures.add(e);
        }
      }
    }
  }

  private void fill(String engine) throws Exception {
    try (NodeProcess node = start(engine, "write_through"); PatternClient client = new PatternClient(node)) {
      client.put(PatternClient.keys(0, BLOCKS)).blockLast(SOON);
      node.terminate();
      assertThat(node.exitCode()).isZero();
    }
  }

  /// Flips bytes in the segments, beyond their heads and before the space that is only reserved.
  private int damage(String engine, int places, long seed) throws IOException {
    Random random = new Random(seed);
    List<Path> segments;
    try (Stream<Path> files = Files.walk(ssd())) {
      segments =
          files.filter(file -> file.toString().endsWith(engine.equals("plain") ? ".log" : ".cq4")).sorted().toList();
    }
    int done = 0;
    for (int i = 0; i < places; i++) {
      Path file = segments.get(random.nextInt(segments.size()));
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        long at = 4_096 + random.nextLong(channel.size() - 4_096);
        ByteBuffer one = ByteBuffer.allocate(1);
        channel.read(one, at);
        one.put(0, (byte) ~one.get(0)).flip();
        channel.write(one, at);
        done++;
      }
    }
    return done;
  }

  private NodeProcess start(String engine, String mode) throws IOException {
    List<String> flags = List.of(arguments(engine, mode));
    return NodeProcess.start(Files.createDirectories(folder.resolve("said")),
        flags.subList(1, flags.size()).toArray(String[]::new));
  }

  private String[] arguments(String engine, String mode, String... more) {
    Map<String, String> flags = new LinkedHashMap<>();
    put(flags, PatternClient.SHAPE.toArray(String[]::new));
    put(flags, "--hbm", "10 blocks", "--dram", "20 blocks", "--ssd", "1000 blocks", "--ssd-dir", ssd().toString(),
        "--ssd-engine", engine,
        "--ssd-segment-bytes", "1MiB", "--stack-mode", mode, "--window-blocks", "32", "--exact", "true");
    put(flags, more);
    List<String> arguments = new ArrayList<>(List.of("serve"));
    flags.forEach((flag, value) -> arguments.addAll(List.of(flag, value)));
    return arguments.toArray(String[]::new);
  }

  /// The later wins.
  private static void put(Map<String, String> flags, String... flagsAndValues) {
    for (int i = 0; i < flagsAndValues.length; i += 2) {
      flags.put(flagsAndValues[i], flagsAndValues[i + 1]);
    }
  }

  private Path ssd() {
    return folder.resolve("ssd");
  }

  private static HttpResponse<String> http(NodeProcess node, String path) throws IOException, InterruptedException {
    return AdminRequest.get(node.adminPort(), path);
  }
}
