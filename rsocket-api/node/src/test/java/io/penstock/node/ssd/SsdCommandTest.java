package io.penstock.node.ssd;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena;
import io.penstock.node.CommandLineRun;
import io.penstock.storage.EngineKind;
import io.penstock.storage.JournalOptions;
import io.penstock.storage.JournalStore;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// `penstock ssd`: what it says, and with which exit code.
@Timeout(60)
final class SsdCommandTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final JsonMapper JSON = JsonMapper.shared();

  @TempDir
  Path folder;

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final SlabArena arena = leaks.watch(new SlabArena("host", SPACE.layout(), 16, 16));

  private JournalStore open() {
    return open(folder);
  }

  private static JournalStore open(Path folder) {
    return JournalStore.open(SPACE,
        JournalOptions.defaults(folder).withEngine(EngineKind.PLAIN).withSegmentBytes(1 << 20));
  }

  private void write() {
    write(folder, 10);
  }

  private void write(Path folder, int count) {
    JournalStore store = open(folder);
    List<Block> blocks = Blocks.keys(SPACE, 0, count).stream().map(key -> Blocks.block(arena, key)).toList();
    store.put(blocks).block();
    blocks.forEach(Block::close);
    store.close().block();
  }

  private void damage(int at) throws IOException {
    damage(folder, at);
  }

  private static void damage(Path folder, int at) throws IOException {
    try (FileChannel file =
        FileChannel.open(folder.resolve("segment-0000000001.log"), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer one = ByteBuffer.allocate(1);
      file.read(one, at);
      one.put(0, (byte) (one.get(0) ^ 1));
      file.write(one.flip(), at);
    }
  }

  private static JsonNode json(CommandLineRun run) throws IOException {
    return JSON.readTree(run.out());
  }

  @Test
  void verify_ofWhatIsWhole_endsWith0() throws IOException {
    write();
    CommandLineRun run = CommandLineRun.of("ssd", "verify", folder.toString());

    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).startsWith("sound: 1 segment, ")
        .contains("; 10 records, 10 live, 0 dead, 0 removals\n",
            "clean: 10 blocks in 1 segment of engine plain")
        .doesNotContain("segment-0000000001.log");
    assertThat(CommandLineRun.of("ssd", "verify", "--all", folder.toString()).out())
        .contains("segment-0000000001.log", "clean: 10 blocks")
        .doesNotContain("sound:");
    assertThat(run.err()).isEmpty();
    assertThat(json(CommandLineRun.of("ssd", "verify", folder.toString(), "--json")).get("segments").get(0).get("live")
        .asInt()).isEqualTo(10);
  }

  @Test
  void verify_ofADamagedBlock_endsWith1AndNamesItsKeyAndGranule() throws IOException {
    write();
    damage(64 + 104 + 64); // the second granule of the first block
    CommandLineRun run = CommandLineRun.of("ssd", "verify", "--json", folder.toString());

    assertThat(run.exitCode()).as(run.err()).isEqualTo(1);
    JsonNode damage = json(run).get("damage").get(0);
    assertThat(damage.get("kind").asString()).isEqualTo("payload");
    assertThat(damage.get("key").asString()).isEqualTo(Blocks.key(SPACE, 0).toString());
    assertThat(damage.get("granule").asInt()).isEqualTo(1);
    assertThat(damage.get("offset").asInt()).isEqualTo(64);
    assertThat(CommandLineRun.of("ssd", "verify", folder.toString()).out()).contains("segment-0000000001.log",
        "payload", "damaged: 1 range, 0 torn ends; 9 good blocks left");
  }

  /// An opening leaves the damaged bytes where they are, and does without them.
  @Test
  void verify_listsDamage_beforeAnOpeningAndAfterIt() throws IOException {
    write();
    damage(64 + 104 + 64);
    for (int opened = 0; opened < 2; opened++) {
      CommandLineRun run = CommandLineRun.of("ssd", "verify", folder.toString());
      assertThat(run.exitCode()).isEqualTo(1);
      assertThat(run.out()).contains("payload", Blocks.key(SPACE, 0).toString(),
          "damaged: 1 range, 0 torn ends; 9 good blocks left");
      open().close().block();
    }
  }

  @Test
  void verify_ofAFolder_whereASegmentIsNoFile_endsWith1() throws IOException {
    write();
    Files.createDirectory(folder.resolve("segment-0000000002.log"));
    Files.createSymbolicLink(folder.resolve("segment-0000000003.log"), folder.resolve("nowhere"));
    CommandLineRun run = CommandLineRun.of("ssd", "verify", folder.toString());
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.out()).contains("segment must be a file", "10 good blocks left", "2 segments cannot be read");
  }

  @Test
  void verify_ofAFolder_whoseFormatNamesAnotherEngine_endsWith74() throws IOException {
    write();
    Files.writeString(folder.resolve("format"), "penstock journal, format 2, engine chronicle\n");
    CommandLineRun run = CommandLineRun.of("ssd", "verify", folder.toString());
    assertThat(run.exitCode()).isEqualTo(74);
    assertThat(run.err()).contains("must be plain, whose segments are there (was chronicle)");
  }

  @Test
  void verify_ofAFolderThatCannotBeChecked_endsWith74AndSaysWhy() throws IOException {
    CommandLineRun none = CommandLineRun.of("ssd", "verify", folder.toString());
    assertThat(none.exitCode()).isEqualTo(74);
    assertThat(none.err()).contains("DIR must be a folder of blocks of this release", "was none")
        .doesNotContain("Exception");

    assertThat(none.err()).containsOnlyOnce(folder.toString());

    JournalStore store = open();
    CommandLineRun inUse = CommandLineRun.of("ssd", "verify", folder.toString());
    store.close().block();
    assertThat(inUse.exitCode()).isEqualTo(74);
    assertThat(inUse.err()).contains("a folder that no process has open",
        "was open in process " + ProcessHandle.current().pid());

    Files.writeString(folder.resolve("format"), "penstock journal, format 3, engine plain\n");
    CommandLineRun newer = CommandLineRun.of("ssd", "verify", folder.toString());
    assertThat(newer.exitCode()).isEqualTo(74);
    assertThat(newer.err()).contains("format 3, engine plain");
  }

  @Test
  void verify_ofTheFolderOfANode_readsThoseOfAllItsSpaces() throws IOException {
    Path first = folder.resolve("chat");
    Path second = folder.resolve("values-64");
    write(first, 3);
    write(second, 4);
    CommandLineRun whole = CommandLineRun.of("ssd", "verify", folder.toString());
    assertThat(whole.exitCode()).as(whole.err()).isZero();
    assertThat(whole.out()).startsWith(first + ":\nsound: 1 segment, ")
        .contains("clean: 3 blocks in 1 segment of engine plain\n\n" + second + ":\n", "clean: 4 blocks");

    damage(second, 64 + 104 + 64);
    CommandLineRun damaged = CommandLineRun.of("ssd", "verify", "--json", folder.toString());
    assertThat(damaged.exitCode()).as(damaged.err()).isEqualTo(1);
    assertThat(json(damaged).get("clean").asBoolean()).isFalse();
    JsonNode folders = json(damaged).get("folders");
    assertThat(folders.size()).isEqualTo(2);
    assertThat(folders.get(0).get("clean").asBoolean()).isTrue();
    assertThat(folders.get(1).get("directory").asString()).isEqualTo(second.toString());
    assertThat(folders.get(1).get("damage").size()).isOne();
  }

  @Test
  void verify_goesOnBehindAFolderThatCannotBeRead_andEndsWith74() throws IOException {
    Path first = folder.resolve("chat");
    Path second = folder.resolve("values-64");
    write(first, 3);
    write(second, 4);
    Files.createDirectory(folder.resolve("lost+found"));
    Files.delete(first.resolve("format"));
    Files.delete(first.resolve("lock"));
    CommandLineRun broken = CommandLineRun.of("ssd", "verify", folder.toString());
    assertThat(broken.exitCode()).as("a folder without its format is no sound one").isEqualTo(74);
    assertThat(broken.err()).contains(first.toString());
    assertThat(broken.out()).startsWith(second + ":\nsound: 1 segment, ").contains("clean: 4 blocks");

    CommandLineRun told = CommandLineRun.of("ssd", "verify", "--json", folder.toString());
    assertThat(told.exitCode()).isEqualTo(74);
    assertThat(json(told).get("clean").asBoolean()).isFalse();
    assertThat(json(told).get("folders").size()).isOne();

    Files.delete(second.resolve("format"));
    CommandLineRun both = CommandLineRun.of("ssd", "verify", folder.toString());
    assertThat(both.exitCode()).isEqualTo(74);
    assertThat(both.err()).contains(first.toString(), second.toString());
    assertThat(both.out()).isEmpty();
  }

  @Test
  void folderThatIsMissing_isNamedAsThat_andNotMade() {
    Path missing = folder.resolve("missing");

    CommandLineRun run = CommandLineRun.of("ssd", "verify", missing.toString());

    assertThat(run.exitCode()).isEqualTo(74);
    assertThat(run.err())
        .isEqualTo("ssd verify: DIR must be a folder that is there (was " + missing + ", which is missing)\n");
    assertThat(missing).doesNotExist();
  }
}
