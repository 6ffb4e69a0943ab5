package io.penstock.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.SlabArena;
import io.penstock.storage.check.CheckProgress;
import io.penstock.storage.check.CheckReport;
import io.penstock.storage.check.JournalCheck;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.file.Directories;
import io.penstock.storage.engine.file.JournalFiles;
import io.penstock.storage.record.RecordFormat;
import io.penstock.testkit.LeakLedger;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Bits flip, files are cut, pages are lost, anywhere in the files of a journal: what is served is right, and a check
/// finds everything in what counts.
@Timeout(600)
final class BitRotTest {
  private static final int HEAD_BYTES = RecordFormat.headBytes(JournalSample.SPACE.layout());
  private static final int PAGE_BYTES = 4096;

  /// What happens to the bytes of a file.
  enum Rot {
    FLIP,
    CUT,
    TORN_PAGE;

    byte[] of(byte[] original, Random random) {
      byte[] bytes = original.clone();
      switch (this) {
        case FLIP -> bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
        case CUT -> bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length));
        case TORN_PAGE -> {
          int from = random.nextInt((bytes.length + PAGE_BYTES - 1) / PAGE_BYTES) * PAGE_BYTES;
          int to = Math.min(bytes.length, from + PAGE_BYTES);
          int source = random.nextBoolean() ? -1 : random.nextInt(bytes.length / PAGE_BYTES + 1) * PAGE_BYTES;
          for (int i = from; i < to; i++) { // never written, or the bytes of another place
            bytes[i] = source < 0 || source + i - from >= original.length ? 0 : original[source + i - from];
          }
        }
      }
      return bytes;
    }
  }

  @TempDir
  Path temporary;

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final SlabArena arena = leaks.watch(new SlabArena("host", JournalSample.SPACE.layout(), 64, 64));

  @ParameterizedTest
  @CsvSource({"PLAIN, FLIP, 24", "CHRONICLE, FLIP, 12", "PLAIN, CUT, 8", "CHRONICLE, CUT, 4",
    "PLAIN, TORN_PAGE, 8", "CHRONICLE, TORN_PAGE, 4"})
  void rotten_isFoundAndNotServed(EngineKind engine, Rot rot, long times) throws IOException {
    rot(engine, rot, 0, times);
  }

  @Tag("proof")
  @Timeout(3600)
  @ParameterizedTest
  @CsvSource({"PLAIN, FLIP, 10000", "CHRONICLE, FLIP, 10000", "PLAIN, CUT, 1000", "CHRONICLE, CUT, 1000",
    "PLAIN, TORN_PAGE, 1000",
    "CHRONICLE, TORN_PAGE, 1000"})
  void rotten_atLength_isFoundAndNotServed(EngineKind engine, Rot rot, long times) throws IOException {
    rot(engine, rot, 1_000_000, 1_000_000 + times);
  }

  @ParameterizedTest
  @CsvSource({"PLAIN, FLIP, 20", "CHRONICLE, FLIP, 10", "PLAIN, CUT, 6", "CHRONICLE, CUT, 4", "PLAIN, TORN_PAGE, 8",
    "CHRONICLE, TORN_PAGE, 4"})
  void rottenWithoutACheckpoint_isSetAsideByAnOpening_whichHarmsNothing(EngineKind engine, Rot rot, long times)
      throws IOException {
    rotInTheNewest(engine, rot, 0, times);
  }

  @Tag("proof")
  @Timeout(3600)
  @ParameterizedTest
  @CsvSource({"PLAIN, FLIP, 10000", "CHRONICLE, FLIP, 10000", "PLAIN, CUT, 1000", "CHRONICLE, CUT, 1000",
    "PLAIN, TORN_PAGE, 1000",
    "CHRONICLE, TORN_PAGE, 1000"})
  void rottenWithoutACheckpoint_atLength_isSetAsideByAnOpening_whichHarmsNothing(EngineKind engine, Rot rot, long times)
      throws IOException {
    rotInTheNewest(engine, rot, 1_000_000, 1_000_000 + times);
  }

  private void rotInTheNewest(EngineKind engine, Rot rot, long fromSeed, long toSeed) throws IOException {
    JournalSample sample = new JournalSample(engine, arena);
    Path whole = temporary.resolve("whole");
    List<Location> live = written(sample, whole);
    JournalSample.deleteCheckpoints(whole);
    int setAside = 0;
    for (long seed = fromSeed; seed < toSeed; seed++) {
      Path damaged = Directories.copy(whole, temporary.resolve("damaged"));
      try {
        setAside += rotAndOpen(sample, damaged, rot, new Random(seed), live);
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed + " on " + engine, e);
      }
      JournalSample.delete(damaged);
    }
    assertThat(setAside).as("records set aside").isGreaterThan(rot == Rot.FLIP ? (int) (toSeed - fromSeed) / 6 : -1);
  }

  /// Damages a file, and opens the journal twice; answers how many records were set aside.
  private static int rotAndOpen(JournalSample sample, Path journal, Rot rot, Random random, List<Location> live)
      throws IOException {
    Rotten rotten = rotten(journal, rot, random);
    CheckReport before = JournalCheck.run(journal, CheckProgress.none());
    int read = sample.read(journal).size();
    int damaged = sample.damaged();
    CheckReport after = JournalCheck.run(journal, CheckProgress.none());
    assertThat(after.live()).as("good records that an opening leaves").isGreaterThanOrEqualTo(before.live());
    List<Location> hit = rotten.hit(live).filter(rotten::isInHeadOrPayload).toList();
    if (rot == Rot.FLIP && !hit.isEmpty()) {
      assertThat(damaged).as("%s", hit).isEqualTo(1);
      assertThat(read).isEqualTo(live.size() - 1);
    }
    long copies = copies(journal);
    assertThat(copies).as("also of what does not count").isGreaterThanOrEqualTo(damaged);
    assertThat(sample.read(journal)).as("opened again").hasSize(read);
    assertThat(sample.damaged()).as("met once").isZero();
    assertThat(copies(journal)).isEqualTo(copies);
    return damaged;
  }

  private static long copies(Path journal) throws IOException {
    Path quarantine = journal.resolve("quarantine");
    if (!Files.exists(quarantine)) {
      return 0;
    }
    try (Stream<Path> files = Files.list(quarantine)) {
      return files.filter(file -> file.toString().endsWith(".bin")).count();
    }
  }

  /// A journal of two runs; answers where the blocks lie that count.
  private static List<Location> written(JournalSample sample, Path whole) {
    sample.write(whole, 0, 25);
    sample.write(whole, 20, 45);
    List<Location> live = sample.live(whole);
    assertThat(JournalCheck.run(whole, CheckProgress.none())).matches(CheckReport::clean)
        .matches(report -> report.live() == live.size());
    return live;
  }

  private void rot(EngineKind engine, Rot rot, long fromSeed, long toSeed) throws IOException {
    JournalSample sample = new JournalSample(engine, arena);
    Path whole = temporary.resolve("whole");
    List<Location> live = written(sample, whole);
    int inLive = 0;
    for (long seed = fromSeed; seed < toSeed; seed++) {
      Path damaged = Directories.copy(whole, temporary.resolve("damaged"));
      try {
        inLive += rot(sample, damaged, rot, new Random(seed), live);
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed + " on " + engine, e);
      }
      JournalSample.delete(damaged);
    }
    assertThat(inLive).as("files damaged in what counts").isGreaterThan((int) (toSeed - fromSeed) / 10);
  }

  /// A file that was damaged.
  ///
  /// @param segment its number; 0 if it is a checkpoint
  private record Rotten(Path file, int segment, byte[] before, byte[] after) {
    Stream<Location> hit(List<Location> records) {
      return records.stream().filter(record -> record.segment() == segment
          && differs(record.offset(), record.offset() + record.length()));
    }

    /// The commit mark and the CRC of a head stand in for each other.
    boolean isInHeadOrPayload(Location record) {
      long payload = record.offset() + HEAD_BYTES;
      return differs(record.offset(), payload - Integer.BYTES)
          || differs(payload, record.offset() + record.length() - RecordFormat.MARK_BYTES);
    }

    private boolean differs(long from, long to) {
      return to > after.length || !Arrays.equals(before, (int) from, (int) to, after, (int) from, (int) to);
    }
  }

  private static Rotten rotten(Path journal, Rot rot, Random random) throws IOException {
    SequencedMap<Path, Integer> files = files(journal);
    Path file = List.copyOf(files.keySet()).get(random.nextInt(files.size()));
    byte[] before = Files.readAllBytes(file);
    byte[] after = rot.of(before, random);
    Files.delete(file);
    Files.write(file, after, StandardOpenOption.CREATE_NEW);
    return new Rotten(file, files.get(file), before, after);
  }

  /// Damages a file; answers 1 if there was a record in it that counts.
  private static int rot(JournalSample sample, Path journal, Rot rot, Random random, List<Location> live)
      throws IOException {
    Rotten rotten = rotten(journal, rot, random);
    List<Location> hit = rotten.hit(live).toList();
    CheckReport report = JournalCheck.run(journal, CheckProgress.none());
    for (Location record : hit) {
      assertThat(report.damage())
          .as("%s of %s, %d bytes before, %d after", record, rotten.file(), rotten.before().length,
              rotten.after().length)
          .anyMatch(damage -> damage.segment() == rotten.segment() && damage.live()
              && damage.offset() < record.offset() + record.length()
              && damage.offset() + damage.length() > record.offset());
    }
    int read = sample.read(journal).size();
    if (rotten.segment() == 0) {
      assertThat(read).as("with %s damaged", rotten.file()).isEqualTo(live.size());
    }
    return hit.isEmpty() ? 0 : 1;
  }

  /// Segments, and their checkpoints, with the number of the segment, 0 for a checkpoint.
  private static SequencedMap<Path, Integer> files(Path journal) throws IOException {
    SequencedMap<Path, Integer> found = new TreeMap<>();
    try (JournalFiles files = JournalFiles.reading(journal); Stream<Path> all = Files.list(journal)) {
      files.segments().forEach(each -> found.put(each.path(), each.number()));
      all.filter(file -> file.getFileName().toString().startsWith("checkpoint")).forEach(file -> found.put(file, 0));
    }
    return found;
  }
}
