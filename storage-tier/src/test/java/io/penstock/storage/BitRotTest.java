package io.penstock.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.SlabArena;
import io.penstock.storage.check.CheckProgress;
import io.penstock.storage.check.CheckReport;
import io.penstock.storage.check.JournalCheck;
import io.penstock.storage.engine.Directories;
import io.penstock.storage.engine.JournalFiles;
import io.penstock.storage.engine.Location;
import io.penstock.testkit.LeakLedger;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// A bit flips anywhere in the files of a journal: what is served is right, and a check finds each flip in what counts.
@Timeout(600)
final class BitRotTest {
  private static final int FRAME_BYTES = 4; // of either engine: a flip in them hides the record
  @TempDir Path temporary;

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final SlabArena arena = leaks.watch(new SlabArena("host", JournalSample.SPACE.layout(), 64, 64));

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void flipped_250Times_isFoundAndNotServed(EngineKind engine) throws IOException {
    flip(engine, 0, 250);
  }

  @Tag("proof")
  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void flipped_10000Times_isFoundAndNotServed(EngineKind engine) throws IOException {
    flip(engine, 1_000_000, 1_010_000);
  }

  private void flip(EngineKind engine, long fromSeed, long toSeed) throws IOException {
    JournalSample sample = new JournalSample(engine, arena);
    Path whole = temporary.resolve("whole");
    sample.write(whole, 0, 25);
    sample.write(whole, 20, 45);
    List<Location> live = sample.live(Directories.copy(whole, temporary.resolve("opened")));
    assertThat(JournalCheck.run(whole, CheckProgress.none())).matches(CheckReport::clean).matches(report -> report.live() == live.size());
    int inLive = 0;
    for (long seed = fromSeed; seed < toSeed; seed++) {
      Path damaged = Directories.copy(whole, temporary.resolve("damaged"));
      try {
        inLive += flip(sample, damaged, new Random(seed), live);
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed + " on " + engine, e);
      }
      JournalSample.delete(damaged);
    }
    assertThat(inLive).as("flips in what counts").isGreaterThan((int) (toSeed - fromSeed) / 10);
  }

  /// Flips a bit; answers 1 if it was in a record that counts.
  private static int flip(JournalSample sample, Path journal, Random random, List<Location> live) throws IOException {
    List<JournalFiles.Stored> segments = segments(journal);
    JournalFiles.Stored segment = segments.get(random.nextInt(segments.size()));
    byte[] bytes = Files.readAllBytes(segment.path());
    int at = random.nextInt(bytes.length);
    bytes[at] ^= (byte) (1 << random.nextInt(8));
    Files.delete(segment.path());
    Files.write(segment.path(), bytes, StandardOpenOption.CREATE_NEW);
    boolean counts = live.stream().anyMatch(record -> record.segment() == segment.number() && isIn(record, at));
    CheckReport report = JournalCheck.run(journal, CheckProgress.none());
    if (counts) {
      assertThat(report.damage()).as("flip at %d of segment %d", at, segment.number()).anyMatch(damage ->
          damage.segment() == segment.number() && damage.live() && at >= damage.offset() && at < damage.offset() + damage.length());
    }
    sample.read(journal);
    return counts ? 1 : 0;
  }

  private static boolean isIn(Location record, int at) {
    return at >= record.offset() - FRAME_BYTES && at < record.offset() + record.length();
  }

  private static List<JournalFiles.Stored> segments(Path journal) {
    try (JournalFiles files = JournalFiles.reading(journal)) {
      return files.segments();
    }
  }
}
