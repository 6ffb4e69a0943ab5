package io.penstock.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.storage.check.CheckProgress;
import io.penstock.storage.check.JournalCheck;
import io.penstock.storage.check.JournalRepair;
import io.penstock.storage.engine.Directories;
import io.penstock.storage.engine.JournalFiles;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.testkit.Blocks;
import io.penstock.tier.spi.StoredBlock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// What an opening cannot read of a segment hides good records behind it: their file stays, whatever else of it counts,
/// until a repair brings them back. What hides none goes.
final class BrokenBeginningTest extends OpeningFixture {
  private static final int LIVES = 12;

  @TempDir
  Path other;

  private Path file() throws IOException {
    try (JournalFiles files = JournalFiles.reading(temporary)) {
      return files.segments().getFirst().path();
    }
  }

  private void flipAt(long at, int bit) throws IOException {
    try (FileChannel file = segment()) {
      ByteBuffer one = ByteBuffer.allocate(1);
      file.read(one, at);
      file.write(ByteBuffer.wrap(new byte[] {(byte) (one.get(0) ^ 1 << bit)}), at);
    }
  }

  private long frameBytes() {
    return kind == EngineKind.PLAIN ? 8 : 4;
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void aBit_ofASegmentsHeadOrOfItsFirstFrames_costsNothingThatARepairBringsBack(EngineKind engine) throws IOException {
    written(engine);
    Path whole = temporary;
    long first = records.getFirst().offset();
    long[] places = LongStream
        .concat(LongStream.range(0, engine == EngineKind.PLAIN ? 64 : 4), LongStream.range(first - frameBytes(), first))
        .toArray();
    for (int i = 0; i < 8 * places.length; i += engine == EngineKind.PLAIN ? 37 : 5) {
      temporary = Directories.copy(whole, other.resolve("copy"));
      flipAt(places[i / 8], i % 8);
      byte[] before = Files.readAllBytes(file());
      open();
      int there = store.recovered().size();
      assertThat(store.recovery().keptSegments()).as("bit %d of byte %d, %d blocks", i % 8, places[i / 8], there)
          .isEqualTo(there == BLOCKS ? 0 : 1);
      close();
      assertThat(file()).as("bit %d of byte %d", i % 8, places[i / 8]).hasBinaryContent(before);
      assertThat(JournalCheck.run(temporary, CheckProgress.none()).live()).isEqualTo(BLOCKS);
      JournalRepair.run(temporary, CheckProgress.none());
      assertThat(JournalCheck.run(temporary, CheckProgress.none()).damage())
          .as("bit %d of byte %d", i % 8, places[i / 8]).isEmpty();
      open();
      assertThat(JournalFixture.keys(store.recovered())).containsExactlyElementsOf(KEYS);
      assertThat(store.recovery().keptSegments()).isZero();
      close();
      JournalSample.delete(temporary);
    }
    temporary = whole;
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void keptSegment_isNamedOnce_andIsAProblemOfTheDisk_andItsNumberIsNotTaken(EngineKind engine) throws IOException {
    written(engine);
    int hiding = records.getFirst().segment();
    Path file = file();
    flipAt(3, 2);
    flipAt(records.getFirst().offset() - 1, 7);
    try (LoggedLines logged = new LoggedLines(Recovery.class)) {
      open();
      assertThat(logged.lines()).singleElement().asString().contains(file.getFileName().toString(),
          "`penstock ssd repair " + temporary + "`");
    }
    assertThat(store.recovered()).isEmpty();
    assertThat(store.recovery().keptSegments()).isEqualTo(1);
    assertThat(store.diskStat().keptSegments()).isEqualTo(1);
    assertThat(store.diskStat().problems()).singleElement().asString().startsWith("opening: ")
        .contains(file.getFileName().toString(), "ssd repair");
    assertThat(store.diskStat().damaged()).isZero();
    put();
    assertThat(records.getFirst().segment()).isGreaterThan(hiding);
    close();
    open();
    assertThat(JournalFixture.keys(store.recovered())).isEqualTo(KEYS);
    assertThat(store.recovery().keptSegments()).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void brokenFrame_behindBlocksThatAreGivenUp_keepsTheirSegment(EngineKind engine) throws IOException {
    written(engine);
    flip(6, engine == EngineKind.PLAIN ? -8 : -4); // its length
    open();
    List<StoredBlock> found = store.recovered();
    assertThat(found).hasSize(6);
    found.forEach(StoredBlock::close);
    store.settled().block(PATIENCE);
    close();
    JournalRepair.run(temporary, CheckProgress.none());
    open();
    assertThat(JournalFixture.keys(store.recovered())).isEqualTo(KEYS.subList(6, BLOCKS));
  }

  /// A record whose frame says that it is the engine's own.
  @Test
  void recordInAFrameOfTheEnginesOwn_keepsItsSegment() throws IOException {
    written(EngineKind.CHRONICLE);
    flipAt(records.get(4).offset() - 1, 6);
    open();
    assertThat(store.recovery().keptSegments()).isEqualTo(1);
    store.recovered().forEach(StoredBlock::close);
    store.settled().block(PATIENCE);
    close();
    JournalRepair.run(temporary, CheckProgress.none());
    open();
    assertThat(JournalFixture.keys(store.recovered())).containsExactly(KEYS.get(4));
  }

  /// The removal lies in a segment of which nothing counts.
  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void hiddenBlock_thatWasRemoved_doesNotComeBackWithARepair(EngineKind engine) throws IOException {
    written(engine);
    Path first = file();
    open();
    store.recovered().get(3).close();
    close();
    JournalSample.deleteCheckpoints(temporary);
    try (FileChannel file = FileChannel.open(first, StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.wrap(new byte[] {0x55, 0x55, 0x55, 0x55}), records.getFirst().offset() - frameBytes());
    }
    for (int i = 0; i < 2; i++) {
      open();
      assertThat(store.recovered()).isEmpty();
      close();
    }
    JournalRepair.run(temporary, CheckProgress.none());
    open();
    assertThat(JournalFixture.keys(store.recovered())).isEqualTo(without(3));
  }

  /// An opening takes it for what a stop left, and does not keep its segment; while that is there a repair brings it
  /// back.
  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void lastBlock_withoutItsFrame_thatWasRemoved_doesNotComeBackWithARepair(EngineKind engine) throws IOException {
    written(engine);
    Path whole = temporary;
    for (byte frame : new byte[] {0, 0x55}) {
      temporary = Directories.copy(whole, other.resolve("frame-" + frame));
      open();
      store.recovered().getLast().close();
      close();
      JournalSample.deleteCheckpoints(temporary);
      write(BLOCKS - 1, -4, new byte[] {frame, frame, frame, frame});
      if (engine == EngineKind.PLAIN) {
        write(BLOCKS - 1, -8, new byte[] {frame, frame, frame, frame});
      }
      for (int i = 0; i < 3; i++) {
        open();
        assertThat(store.recovery().keptSegments()).isZero();
        close();
      }
      JournalRepair.run(temporary, CheckProgress.none());
      open();
      assertThat(JournalFixture.keys(store.recovered())).isEqualTo(without(BLOCKS - 1));
      close();
    }
  }

  /// All that is left of the last two runs lies in the kept segment.
  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void run_afterOneThatIsHidden_isNewer_alsoWhenThatIsBack(EngineKind engine) throws IOException {
    written(engine);
    for (long run = 1; run <= 3; run++) {
      open();
      // The run before goes with its segment
      store.recovered().stream().filter(each -> !KEYS.contains(each.key())).forEach(StoredBlock::close);
      put(Blocks.keys(JournalSample.SPACE, run * BLOCKS, (run + 1) * BLOCKS));
      close();
      if (run == 2) {
        JournalSample.deleteCheckpoints(temporary);
        flip(0, engine == EngineKind.PLAIN ? -8 : -4); // its length
      }
    }
    JournalRepair.run(temporary, CheckProgress.none());
    open();
    assertThat(JournalFixture.keys(store.recovered())).containsOnlyOnceElementsOf(KEYS)
        .containsAll(Blocks.keys(JournalSample.SPACE, 2L * BLOCKS, 4L * BLOCKS));
  }

  /// What removes blocks that were written after the kept segment goes with their segments: each life half of the
  /// newest blocks are given up, whose removals must be written, and the other half of those before, with which their
  /// segment goes.
  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void journalWithAKeptSegment_doesNotGrow(EngineKind engine) throws IOException {
    written(engine);
    int kept = records.getFirst().segment();
    flip(6, engine == EngineKind.PLAIN ? -8 : -4); // its length
    List<Integer> removals = new ArrayList<>();
    for (long life = 1; life <= LIVES; life++) {
      open();
      assertThat(store.recovery().keptSegments()).isEqualTo(1);
      Set<BlockKey> stay = new HashSet<>(KEYS);
      stay.addAll(Blocks.keys(JournalSample.SPACE, life * BLOCKS - BLOCKS / 2, life * BLOCKS));
      store.recovered().stream().filter(each -> !stay.contains(each.key())).forEach(StoredBlock::close);
      put(Blocks.keys(JournalSample.SPACE, life * BLOCKS, (life + 1) * BLOCKS));
      store.settled().block(PATIENCE);
      close();
      removals.add(removalsBehind(kept));
    }
    assertThat(removals.getFirst()).as("nothing given up before").isZero();
    assertThat(removals.get(1)).as("half of the first life's").isEqualTo(BLOCKS / 2);
    assertThat(removals.getLast()).as("names in removals after each life %s", removals).isLessThanOrEqualTo(2 * BLOCKS);
    JournalRepair.run(temporary, CheckProgress.none());
    open();
    assertThat(JournalFixture.keys(store.recovered())).startsWith(KEYS.toArray(BlockKey[]::new));
  }

  private int removalsBehind(int kept) {
    try (SegmentEngine engine = engine()) {
      assertThat(engine.segments()).startsWith(kept).hasSizeLessThanOrEqualTo(3);
      RecordReader reader = new RecordReader(engine, "journal");
      int[] names = {0};
      engine.segments().stream().skip(1).forEach(segment -> engine.scan(segment, at -> {
        names[0] += reader.head(at).removals().size();
      }));
      return names[0];
    }
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void fileThatHidesNothing_goes(EngineKind engine) throws IOException {
    written(engine);
    Path first = file();
    byte[] bytes = Files.readAllBytes(first);
    try (FileChannel file = segment()) { // nothing but zeros behind the break
      file.write(ByteBuffer.allocate(bytes.length - 1), 1);
    }
    assertGoes(first);

    byte[] half = new byte[bytes.length]; // a record that was begun, and no more
    System.arraycopy(bytes, 0, half, 0, (int) records.getFirst().offset() + HEAD);
    half[(int) records.getFirst().offset() - 1] ^= (byte) 0x80;
    Files.createDirectories(first.getParent());
    Files.write(first, half);
    assertGoes(first);
  }

  private void assertGoes(Path segment) {
    open();
    assertThat(store.recovered()).isEmpty();
    assertThat(store.recovery().keptSegments()).isZero();
    assertThat(store.diskStat().problems()).isEmpty();
    assertThat(segment).doesNotExist();
    close();
  }

  /// A writer was ended before the first record of a file that was another segment before.
  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void fileOfAnEarlierLifeAlone_goes(EngineKind engine) throws IOException {
    written(engine);
    Path first = file();
    byte[] anew = Files.readAllBytes(first);
    Path next = first.resolveSibling(engine == EngineKind.PLAIN ? "segment-0000000002.log" : "19700101-02.cq4");
    System.arraycopy(new byte[64], 0, anew, 0, 64);
    Files.write(next, anew);
    open();
    assertThat(JournalFixture.keys(store.recovered())).isEqualTo(KEYS);
    assertThat(store.recovery().keptSegments()).isZero();
    assertThat(next).doesNotExist();
  }
}
