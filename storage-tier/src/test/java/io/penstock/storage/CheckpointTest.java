package io.penstock.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.SlabArena;
import io.penstock.storage.check.CheckProgress;
import io.penstock.storage.check.CheckReport;
import io.penstock.storage.check.JournalCheck;
import io.penstock.storage.engine.file.Directories;
import io.penstock.testkit.LeakLedger;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Checkpoints save time, and change nothing else.
@Timeout(120)
final class CheckpointTest {
  @TempDir
  Path temporary;

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final SlabArena arena = leaks.watch(new SlabArena("host", JournalSample.SPACE.layout(), 64, 64));

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void withoutCheckpoints_theSameIsThere(EngineKind engine) throws IOException {
    JournalSample sample = new JournalSample(engine, arena);
    Path whole = written(sample);
    List<BlockKey> with = sample.read(Directories.copy(whole, temporary.resolve("with")));
    Path without = Directories.copy(whole, temporary.resolve("without"));
    JournalSample.deleteCheckpoints(without);

    assertThat(sample.read(without)).isEqualTo(with).hasSize(38);
    assertThat(Directories.last(without, "checkpoint-0000000001")).as("written anew by the opening").isNotNull();
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void withCheckpoints_noFrameIsNeeded(EngineKind engine) throws IOException {
    JournalSample sample = new JournalSample(engine, arena);
    sample.write(temporary, 0, 20);
    Path file = Directories.last(temporary, sample.suffix());
    byte[] bytes = Files.readAllBytes(file);
    int first = JournalSample.record(bytes, 0);
    Arrays.fill(bytes, first - 4, first, (byte) 0xFF);
    Files.write(file, bytes);
    assertThat(sample.read(temporary)).as("the checkpoint was read, not the segment").hasSize(19);
  }

  /// Bytes of a checkpoint, in a proof every one: magic, version, numbers, space, entries, removals, checksum.
  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void anyByteDamaged_theSameIsThere(EngineKind engine) throws IOException {
    anyByteDamaged_theSameIsThere(engine, 5);
  }

  @Tag("proof")
  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void anyByteDamaged_theSameIsThere_atLength(EngineKind engine) throws IOException {
    anyByteDamaged_theSameIsThere(engine, 1);
  }

  private void anyByteDamaged_theSameIsThere(EngineKind engine, int step) throws IOException {
    JournalSample sample = new JournalSample(engine, arena);
    Path whole = temporary.resolve("whole");
    sample.write(whole, 0, 6);
    byte[] good = Files.readAllBytes(whole.resolve("checkpoint-0000000001"));
    for (int at = 0; at <= good.length; at += engine == EngineKind.PLAIN ? step : 7 * step) {
      byte[] bytes = at == good.length ? Arrays.copyOf(good, at - 1) : good.clone();
      if (at < good.length) {
        bytes[at] ^= (byte) (1 << at % 8);
      }
      Path journal = Directories.copy(whole, temporary.resolve("damaged"));
      Files.write(journal.resolve("checkpoint-0000000001"), bytes);
      assertThat(sample.read(journal)).as("byte %d damaged", at).hasSize(5);
      JournalSample.delete(journal);
    }
  }

  /// Of a segment that is not there, of another segment, of a file that has another content since.
  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void ofAnotherSegment_isNotBelieved(EngineKind engine) throws IOException {
    JournalSample sample = new JournalSample(engine, arena);
    Path journal = written(sample);
    Path other = temporary.resolve("other");
    sample.write(other, 0, 3);
    Path first = journal.resolve("checkpoint-0000000001");
    Files.copy(first, journal.resolve("checkpoint-0000000099"));
    Files.delete(first);
    Files.copy(other.resolve("checkpoint-0000000001"), first);

    assertThat(sample.read(journal)).hasSize(38);
    assertThat(journal.resolve("checkpoint-0000000099")).doesNotExist();
  }

  /// Segments that were ended because they were full: nothing about them is damage.
  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void ofFullSegments_agreeWithWhatACheckFinds(EngineKind engine) throws IOException {
    JournalSample sample = new JournalSample(engine, arena);
    sample.writeMany(temporary, 0, 6000);
    for (int round = 0; round < 2; round++) {
      CheckReport report = JournalCheck.run(temporary, CheckProgress.none());
      assertThat(report.damage()).isEmpty();
      assertThat(report.live()).isEqualTo(6000);
      assertThat(report.segments()).hasSizeGreaterThan(1);
      JournalSample.deleteCheckpoints(temporary);
      assertThat(sample.live(temporary)).hasSize(6000);
    }
  }

  private Path written(JournalSample sample) {
    Path whole = temporary.resolve("whole");
    sample.write(whole, 0, 20);
    sample.write(whole, 20, 40);
    return whole;
  }
}
