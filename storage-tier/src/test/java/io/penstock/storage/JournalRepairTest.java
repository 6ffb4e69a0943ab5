package io.penstock.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockKey;
import io.penstock.block.SlabArena;
import io.penstock.storage.check.CheckProgress;
import io.penstock.storage.check.CheckReport;
import io.penstock.storage.check.JournalCheck;
import io.penstock.storage.check.JournalRepair;
import io.penstock.storage.check.RepairAction;
import io.penstock.storage.check.RepairAction.Done;
import io.penstock.storage.check.RepairReport;
import io.penstock.storage.check.SegmentReport;
import io.penstock.storage.engine.Directories;
import io.penstock.storage.engine.DirectoryLockedException;
import io.penstock.storage.engine.JournalFormatException;
import io.penstock.storage.record.Mutations;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/// A repaired journal is clean, and has every block that was good.
@Timeout(600)
final class JournalRepairTest {
  @TempDir
  Path temporary;

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final SlabArena arena = leaks.watch(new SlabArena("host", JournalSample.SPACE.layout(), 64, 64));

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void damaged_150Times_isCleanAfterwardsAndKeepsWhatIsGood(EngineKind engine) throws IOException {
    damage(engine, 0, 150);
  }

  @Tag("proof")
  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void damaged_5000Times_isCleanAfterwardsAndKeepsWhatIsGood(EngineKind engine) throws IOException {
    damage(engine, 1_000_000, 1_005_000);
  }

  private void damage(EngineKind engine, long fromSeed, long toSeed) throws IOException {
    JournalSample sample = new JournalSample(engine, arena);
    Path whole = temporary.resolve("whole");
    sample.write(whole, 0, 12);
    Path original = Directories.last(whole, sample.suffix());
    byte[] bytes = Files.readAllBytes(original);
    for (long seed = fromSeed; seed < toSeed; seed++) {
      Path journal = Directories.copy(whole, temporary.resolve("damaged"));
      replace(journal.resolve(whole.relativize(original)), Mutations.mutate(bytes, new Random(seed)));
      if (seed % 2 == 0) {
        JournalSample.deleteCheckpoints(journal);
      }
      try {
        repair(sample, journal);
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed + " on " + engine, e);
      }
      JournalSample.delete(journal);
    }
    assertThat(sample.blocksRead()).as("blocks read, %d refused", sample.refused())
        .isGreaterThan((int) (toSeed - fromSeed) * 5);
    assertThat(sample.refused()).as("after a repair").isZero();
  }

  private void repair(JournalSample sample, Path journal) {
    CheckReport before = JournalCheck.run(journal, CheckProgress.none());
    RepairReport repaired = JournalRepair.run(journal, CheckProgress.none());
    assertThat(repaired.actions()).as("%s", before.damage()).extracting(RepairAction::damage)
        .isEqualTo(before.damage());
    CheckReport after = JournalCheck.run(journal, CheckProgress.none());
    assertThat(after.damage()).as("after %s", repaired).isEmpty();
    long removalsBack = removals(after) - removals(before); // each of a block that had come back without it
    assertThat(after.live() + removalsBack).as("%s", repaired).isGreaterThanOrEqualTo(before.live());
    assertThat(JournalRepair.run(journal, CheckProgress.none()).actions()).isEmpty();
    List<BlockKey> read = sample.read(journal);
    assertThat((long) read.size()).as("%s", repaired).isEqualTo(after.live());
  }

  private static long removals(CheckReport report) {
    return report.segments().stream().mapToLong(SegmentReport::removals).sum();
  }

  private static void replace(Path file, byte[] bytes) throws IOException {
    Files.delete(file);
    Files.write(file, bytes, StandardOpenOption.CREATE_NEW);
  }

  /// Flips a bit of the newest segment at `distance` from where its record number `record` begins, from 0.
  private static RepairReport flipped(JournalSample sample, Path journal, int record, int distance) throws IOException {
    Path file = Directories.last(journal, sample.suffix());
    byte[] bytes = Files.readAllBytes(file);
    bytes[JournalSample.record(bytes, record) + distance] ^= (byte) 0x80;
    replace(file, bytes);
    return JournalRepair.run(journal, CheckProgress.none());
  }

  @ParameterizedTest
  @CsvSource({"PLAIN", "CHRONICLE"})
  void aFrame_isMended_andNothingBehindItIsLost(EngineKind engine) throws IOException {
    JournalSample sample = new JournalSample(engine, arena);
    sample.write(temporary, 0, 10);
    // In Chronicle's word the bit that says unfinished: of all bits the worst
    RepairReport report = flipped(sample, temporary, 2, -1);
    assertThat(report.actions()).extracting(RepairAction::done).containsExactly(Done.MENDED);
    assertThat(sample.read(temporary)).hasSize(9);
  }

  @ParameterizedTest
  @CsvSource({"PLAIN", "CHRONICLE"})
  void aFrame_damagedBeforeAnOpening_isMendedAfterIt(EngineKind engine) throws IOException {
    JournalSample sample = new JournalSample(engine, arena);
    sample.write(temporary, 0, 10);
    Path file = Directories.last(temporary, sample.suffix());
    byte[] bytes = Files.readAllBytes(file);
    bytes[JournalSample.record(bytes, 2) - 1] ^= (byte) 0x80;
    replace(file, bytes);
    JournalSample.deleteCheckpoints(temporary);
    int left = sample.read(temporary).size();
    assertThat(left).isLessThan(9);
    JournalRepair.run(temporary, CheckProgress.none());
    assertThat(sample.read(temporary)).hasSize(9);
  }

  /// What a run wrote that did not see the records behind the damage counts beside them once they are seen again.
  @ParameterizedTest
  @CsvSource({"PLAIN", "CHRONICLE"})
  void aFrame_damagedBeforeARunThatWrote_isMendedAfterIt(EngineKind engine) throws IOException {
    JournalSample sample = new JournalSample(engine, arena);
    sample.write(temporary, 0, 10);
    Path file = Directories.last(temporary, sample.suffix());
    byte[] bytes = Files.readAllBytes(file);
    bytes[JournalSample.record(bytes, 2) - 1] ^= (byte) 0x80;
    replace(file, bytes);
    JournalSample.deleteCheckpoints(temporary);
    sample.write(temporary, 20, 30);
    JournalRepair.run(temporary, CheckProgress.none());
    assertThat(sample.read(temporary)).hasSize(18);
  }

  @ParameterizedTest
  @CsvSource({"PLAIN", "CHRONICLE"})
  void aMark_isMended(EngineKind engine) throws IOException {
    JournalSample sample = new JournalSample(engine, arena);
    sample.write(temporary, 0, 10);
    assertThat(flipped(sample, temporary, 2, 104 + 256 + 3).actions()).extracting(RepairAction::done)
        .containsExactly(Done.MENDED);
    assertThat(sample.read(temporary)).hasSize(9);
  }

  @ParameterizedTest
  @CsvSource({"PLAIN", "CHRONICLE"})
  void aBlock_isSetAsideWithItsBytes_andNoOtherIsLost(EngineKind engine) throws IOException {
    JournalSample sample = new JournalSample(engine, arena);
    sample.write(temporary, 0, 10);
    RepairAction action = flipped(sample, temporary, 2, 104 + 200).actions().getFirst();

    assertThat(action.done()).isEqualTo(Done.SET_ASIDE);
    assertThat(action.damage().key()).isEqualTo(Blocks.key(JournalSample.SPACE, 2).toString());
    assertThat(action.damage().granule()).isEqualTo(3);
    assertThat(Files.size(temporary.resolve(String.valueOf(action.file())))).isEqualTo(action.damage().length());
    assertThat(Files.readAllLines(temporary.resolve("quarantine/index.jsonl"))).singleElement().asString()
        .startsWith("{\"file\":\"segment-0000000001-")
        .contains("\"kind\":\"PAYLOAD\",\"key\":\"" + Blocks.key(JournalSample.SPACE, 2) + "\",\"sequence\":3");
    Set<BlockKey> left = new HashSet<>(Blocks.keys(JournalSample.SPACE, 0, 10));
    left.remove(Blocks.key(JournalSample.SPACE, 2));
    left.remove(Blocks.key(JournalSample.SPACE, 5));
    assertThat(sample.read(temporary)).containsExactlyInAnyOrderElementsOf(left);
  }

  @Test
  void aJournalInUse_orOfAnotherVersion_isRefusedAndLeftAlone() throws IOException {
    JournalSample sample = new JournalSample(EngineKind.PLAIN, arena);
    sample.write(temporary, 0, 10);
    JournalStore store = JournalStore.open(JournalSample.SPACE, sample.options(temporary));
    assertThatThrownBy(() -> JournalRepair.run(temporary, CheckProgress.none()))
        .isInstanceOf(DirectoryLockedException.class);
    assertThatThrownBy(() -> JournalCheck.run(temporary, CheckProgress.none()))
        .isInstanceOf(DirectoryLockedException.class);
    store.close().block();
    Files.writeString(temporary.resolve("format"), "penstock journal, format 2, engine plain\n");
    assertThatThrownBy(() -> JournalRepair.run(temporary, CheckProgress.none()))
        .isInstanceOf(JournalFormatException.class)
        .hasMessageContaining("format 2");
    assertThat(temporary.resolve("quarantine")).doesNotExist();
  }
}
