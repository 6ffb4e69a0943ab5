package io.penstock.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.SlabArena;
import io.penstock.storage.engine.file.Directories;
import io.penstock.storage.record.Mutations;
import io.penstock.testkit.LeakLedger;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/// Damaged segment files: a journal opens with what is left, or refuses with a typed error; no wrong byte is ever given
/// out.
@Timeout(600)
final class JournalFuzzTest {
  @TempDir
  Path temporary;

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final SlabArena arena = leaks.watch(new SlabArena("host", JournalSample.SPACE.layout(), 64, 64));

  @ParameterizedTest
  @CsvSource({"PLAIN, 250", "CHRONICLE, 80"})
  void damaged_330Times_givesNoWrongByte(EngineKind engine, long times) throws IOException {
    fuzz(engine, 0, times);
  }

  @Tag("proof")
  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void damaged_200000Times_givesNoWrongByte(EngineKind engine) throws IOException {
    fuzz(engine, 1_000_000, 1_200_000);
  }

  private void fuzz(EngineKind engine, long fromSeed, long toSeed) throws IOException {
    JournalSample sample = new JournalSample(engine, arena);
    Path whole = temporary.resolve("whole");
    sample.write(whole, 0, 12);
    JournalSample.deleteCheckpoints(whole); // with them, no opening would read the frames
    Path original = Directories.last(whole, sample.suffix());
    byte[] bytes = Files.readAllBytes(original);
    for (long seed = fromSeed; seed < toSeed; seed++) {
      Path damaged = Directories.copy(whole, temporary.resolve("damaged"));
      Path file = damaged.resolve(whole.relativize(original));
      Files.delete(file); // a new one: file systems push out at once what replaces a file in its place
      Files.write(file, Mutations.mutate(bytes, new Random(seed)), StandardOpenOption.CREATE_NEW);
      try {
        sample.read(damaged);
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed + " on " + engine, e);
      }
      JournalSample.delete(damaged);
    }
    assertThat(sample.blocksRead()).as("blocks read, %d times refused", sample.refused())
        .isGreaterThan((int) (toSeed - fromSeed));
  }
}
