package io.penstock.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockKey;
import io.penstock.storage.check.CheckProgress;
import io.penstock.storage.check.CheckReport;
import io.penstock.storage.check.Damage;
import io.penstock.storage.check.DamageKind;
import io.penstock.storage.check.JournalCheck;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.file.Directories;
import io.penstock.storage.engine.file.JournalFiles;
import io.penstock.storage.record.RecordFormat;
import io.penstock.testkit.Blocks;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.spi.BlockUnreadableException;
import io.penstock.tier.spi.StoredBlock;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/// Whatever lies between two whole records, an opening finds both: with checkpoints and without them, the first time
/// and the second.
final class DamageBetweenTest extends OpeningFixture {
  private static final int RECORD = RecordFormat.recordBytes(JournalSample.SPACE.layout());

  @TempDir
  Path other;

  private List<Path> segments() {
    try (JournalFiles files = JournalFiles.reading(temporary)) {
      return files.segments().stream().map(JournalFiles.Stored::path).toList();
    }
  }

  /// Opens the journal twice as it is, and twice without checkpoints.
  private void assertFound(List<BlockKey> keys) throws IOException {
    for (int i = 0; i < 4; i++) {
      if (i == 2) {
        JournalSample.deleteCheckpoints(temporary);
      }
      open();
      List<StoredBlock> found = store.recovered();
      found.forEach(this::read);
      assertThat(JournalFixture.keys(found)).as("opening %d", i).containsExactlyInAnyOrderElementsOf(keys);
      close();
    }
  }

  private CheckReport check() {
    return JournalCheck.run(temporary, CheckProgress.none());
  }

  /// A run for each segment.
  private void runs(EngineKind engine, int runs) {
    kind = engine;
    for (int run = 0; run < runs; run++) {
      open();
      put(Blocks.keys(JournalSample.SPACE, (long) run * BLOCKS, (run + 1L) * BLOCKS));
      close();
    }
  }

  @ParameterizedTest
  @CsvSource({"PLAIN, true", "CHRONICLE, true", "PLAIN, false", "CHRONICLE, false"})
  void twoSegmentFiles_thatWereSwapped_costNothing_andAreReported(EngineKind engine, boolean withCheckpoints)
      throws IOException {
    runs(engine, 3);
    if (!withCheckpoints) {
      JournalSample.deleteCheckpoints(temporary);
    }
    List<Path> files = segments();
    Path aside = other.resolve("aside");
    Files.move(files.get(0), aside);
    Files.move(files.get(2), files.get(0));
    Files.move(aside, files.get(2));
    CheckReport report = check();
    assertThat(report.clean()).isFalse();
    assertThat(report.live()).isEqualTo(3 * BLOCKS);
    assertThat(report.damage()).extracting(Damage::kind).contains(DamageKind.MISPLACED);
    assertFound(Blocks.keys(JournalSample.SPACE, 0, 3 * BLOCKS));
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void segmentFile_thatWasRenamed_costsNothing(EngineKind engine) throws IOException {
    runs(engine, 2);
    Path last = segments().getLast();
    Files.move(last, last.resolveSibling(engine == EngineKind.PLAIN ? "segment-0000000009.log" : "19700101-09.cq4"));
    assertThat(check().clean()).isFalse();
    assertFound(Blocks.keys(JournalSample.SPACE, 0, 2 * BLOCKS));
  }

  /// A later one over an earlier one, the other way round, and over the first one.
  @ParameterizedTest
  @CsvSource({"PLAIN, 15, 4", "CHRONICLE, 15, 4", "PLAIN, 4, 15", "CHRONICLE, 4, 15", "PLAIN, 19, 0",
    "CHRONICLE, 19, 0", "PLAIN, 2, 19"})
  void record_thatIsCopiedOverAnother_costsThatOne_andIsReported(EngineKind engine, int from, int to)
      throws IOException {
    kind = engine;
    open();
    put();
    close();
    write(to, 0, bytes(from));
    assertThat(check().clean()).isFalse();
    JournalSample.deleteCheckpoints(temporary);
    CheckReport report = check();
    assertThat(report.damage()).extracting(Damage::kind).containsExactly(DamageKind.MISPLACED);
    assertThat(report.live()).isEqualTo(BLOCKS - 1);
    assertFound(without(to));
  }

  /// Of a newer segment, over the first record.
  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void record_ofAnotherSegment_copiedOverTheFirst_costsThatOne(EngineKind engine) throws IOException {
    runs(engine, 1);
    Location first = records.getFirst();
    Path file = segments().getFirst();
    open();
    put(Blocks.keys(JournalSample.SPACE, BLOCKS, 2 * BLOCKS));
    close();
    byte[] newer = bytes(3);
    try (FileChannel to = FileChannel.open(file, StandardOpenOption.WRITE)) {
      to.write(ByteBuffer.wrap(newer), first.offset());
    }
    JournalSample.deleteCheckpoints(temporary);
    assertThat(check().damage()).extracting(Damage::kind).containsExactly(DamageKind.MISPLACED);
    assertFound(Blocks.keys(JournalSample.SPACE, 1, 2 * BLOCKS));
  }

  /// The mark and the CRC of the head stand in for each other, also at the end.
  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void aBit_ofAMarkOrOfTheCrcOfAHead_costsNothing(EngineKind engine) throws IOException {
    kind = engine;
    open();
    put();
    close();
    Path whole = temporary;
    Random random = new Random(7);
    int[] locations = {HEAD - 4, HEAD - 3, HEAD - 2, HEAD - 1, RECORD - 8, RECORD - 5, RECORD - 4, RECORD - 1};
    for (int location : locations) {
      for (int record : new int[] {0, 7, BLOCKS - 1}) {
        temporary = Directories.copy(whole, other.resolve("copy"));
        flip(record, location);
        assertThat(check().clean()).as("byte %d of record %d", location, record)
            .isFalse();
        if (random.nextInt(4) == 0) {
          assertFound(KEYS);
        }
        JournalSample.deleteCheckpoints(temporary);
        open();
        assertThat(JournalFixture.keys(store.recovered())).as("byte %d of record %d", location, record)
            .containsExactlyInAnyOrderElementsOf(KEYS);
        close();
        JournalSample.delete(temporary);
      }
    }
    temporary = whole;
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void whateverIsBroken_costsTheRecordsItTouches_andNoOthers(EngineKind engine) throws IOException {
    whateverIsBroken_costsTheRecordsItTouches_andNoOthers(engine, 20);
  }

  @Tag("proof")
  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void whateverIsBroken_costsTheRecordsItTouches_andNoOthers_atLength(EngineKind engine) throws IOException {
    whateverIsBroken_costsTheRecordsItTouches_andNoOthers(engine, 60);
  }

  private void whateverIsBroken_costsTheRecordsItTouches_andNoOthers(EngineKind engine, int seeds) throws IOException {
    kind = engine;
    open();
    put();
    close();
    JournalSample.deleteCheckpoints(temporary);
    Path whole = temporary;
    Path file = segments().getFirst();
    long size = Files.size(file);
    for (int seed = 0; seed < seeds; seed++) {
      Random random = new Random(seed);
      temporary = Directories.copy(whole, other.resolve("copy"));
      long from = random.nextLong(size);
      byte[] noise = new byte[(int) Math.min(size - from, 1 + random.nextInt(3 * RECORD))];
      if (random.nextBoolean()) {
        random.nextBytes(noise);
      }
      try (FileChannel to =
          FileChannel.open(temporary.resolve(whole.relativize(file)), StandardOpenOption.WRITE)) {
        to.write(ByteBuffer.wrap(noise), from);
      }
      List<BlockKey> untouched = new ArrayList<>();
      for (int i = 0; i < BLOCKS; i++) {
        Location at = records.get(i);
        if (at.offset() >= from + noise.length || at.offset() + at.length() <= from) {
          untouched.add(KEYS.get(i));
        }
      }
      open();
      List<BlockKey> found = JournalFixture.keys(store.recovered());
      assertThat(found).as("seed %d", seed).containsAll(untouched);
      assertThat(found.size() == BLOCKS || store.recovery().damaged() + store.recovery().tornSegments() > 0)
          .as("seed %d: missing, and told of", seed).isTrue();
      close();
      JournalSample.delete(temporary);
    }
    temporary = whole;
  }

  /// A process that was ended before the first record of a file that was another segment before.
  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void fileOfAnEarlierLifeAlone_goes(EngineKind engine) throws IOException {
    written(engine);
    Path first = segments().getFirst();
    byte[] anew = Files.readAllBytes(first);
    Path next = first.resolveSibling(engine == EngineKind.PLAIN ? "segment-0000000002.log" : "19700101-02.cq4");
    int head = engine == EngineKind.PLAIN ? 64 : 64 << 10;
    byte[] longer = new byte[head + anew.length];
    System.arraycopy(anew, 0, longer, head, anew.length);
    Directories.segmentHead(longer, head - 64, 2);
    Files.write(next, longer);
    open();
    assertThat(JournalFixture.keys(store.recovered())).isEqualTo(KEYS);
    assertThat(next).doesNotExist();
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void fileWithoutAWholeRecord_goes(EngineKind engine) throws IOException {
    written(engine);
    Path first = segments().getFirst();
    byte[] bytes = new byte[(int) Files.size(first)];
    new Random(1).nextBytes(bytes);
    Files.write(first, bytes);
    open();
    assertThat(store.recovered()).isEmpty();
    assertThat(first).doesNotExist();
  }

  /// Under a running store: its blocks are misses at once, and no others.
  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void fileThatIsCutShort_underAnOpenStore_costsItsBlocks_atOnce(EngineKind engine) throws IOException {
    runs(engine, 2);
    Path file = segments().getFirst();
    open();
    List<BlockKey> lost = new ArrayList<>();
    List<StoredBlock> found = store.recovered();
    try (FileChannel cut = FileChannel.open(file, StandardOpenOption.WRITE)) {
      cut.truncate(64);
    }
    for (StoredBlock each : found) {
      try {
        read(each);
      } catch (BlockUnreadableException e) {
        lost.add(e.key());
      }
    }
    assertThat(lost).containsExactlyInAnyOrderElementsOf(KEYS);
    assertThat(store.health().state()).isEqualTo(StoreHealth.State.ACTIVE);
    assertThat(store.diskStat().unreadable()).isEqualTo(BLOCKS);
  }

  /// Under a running store: the next sync tells, and what is put from then on is there after a restart.
  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void openSegment_thatIsDeleted_isNotedBySync_andTheNextBeginsAnother(EngineKind engine) throws IOException {
    kind = engine;
    try (SegmentEngine log = engine()) {
      Location before = append(log);
      Files.delete(segments(before.segment()));
      assertThatThrownBy(log::sync).isInstanceOf(StorageFailedException.class)
          .hasMessageContaining("must be in its folder (was deleted");
      log.roll();
      Location after = append(log);
      assertThat(after.segment()).isGreaterThan(before.segment());
      log.sync();
      assertThat(segments(after.segment())).exists();
    }
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void folder_thatIsDeletedUnderAnOpenEngine_takesNothingMore(EngineKind engine) throws IOException {
    kind = engine;
    try (SegmentEngine log = engine()) {
      append(log);
      JournalSample.delete(temporary);
      assertThatThrownBy(log::sync).isInstanceOf(StorageFailedException.class);
      log.roll();
      assertThatThrownBy(() -> append(log)).isInstanceOf(StorageFailedException.class);
      assertThatThrownBy(log::probe).isInstanceOf(StorageFailedException.class);
      Files.createDirectories(temporary);
    }
  }

  private static Location append(SegmentEngine log) {
    try (Arena arena = Arena.ofConfined()) {
      return log.append(arena.allocate(4096));
    }
  }

  private Path segments(int segment) throws IOException {
    try (Stream<Path> files = Files.walk(temporary)) {
      return files.filter(each -> each.endsWith("segment-%010d.log".formatted(segment))
          || each.endsWith("19700101-%02d.cq4".formatted(segment))).findFirst().orElseThrow();
    }
  }
}
