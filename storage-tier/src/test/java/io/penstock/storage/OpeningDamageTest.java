package io.penstock.storage;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.storage.check.CheckProgress;
import io.penstock.storage.check.CheckReport;
import io.penstock.storage.check.JournalCheck;
import io.penstock.storage.engine.Location;
import io.penstock.storage.record.RecordFormat;
import io.penstock.tier.Level;
import io.penstock.tier.Presence;
import io.penstock.tier.spi.StoredBlock;
import io.penstock.tier.StackMode;
import io.penstock.tier.StackOptions;
import io.penstock.tier.TierListener;
import io.penstock.tier.TierStack;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Records of a segment without a checkpoint that were finished, and are found damaged when the journal is opened: each
/// is kept aside, once, counted, and taken out. What a stop leaves unfinished, or never got to the medium, is not.
final class OpeningDamageTest extends OpeningFixture {
  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void damaged_isKeptAside_counted_named_andTakenOut(EngineKind engine) throws IOException {
    written(engine);
    flip(3, HEAD + 70);
    flip(7, 25);
    flip(BLOCKS - 1, 40);
    List<byte[]> damaged = List.of(bytes(3), bytes(7), bytes(BLOCKS - 1));
    CheckReport before = JournalCheck.run(temporary, CheckProgress.none());
    assertThat(before.damage()).hasSize(3).allMatch(each -> each.live());
    assertThat(temporary.resolve("quarantine")).as("a check changes nothing").doesNotExist();

    try (LoggedLines logged = new LoggedLines(Recovery.class)) {
      open();
      assertThat(logged.lines()).singleElement().asString()
          .contains(": 3 of its records are not whole and count no more", "damaged: 3, block " + KEYS.get(3),
              "2 of unknown blocks, by their heads");
    }
    assertThat(store.recovery().dropped()).isEqualTo(3);
    assertThat(store.recovery().damaged()).isEqualTo(3);
    assertThat(store.diskStat().damaged()).isEqualTo(store.diskStat().damagedAtOpening()).isEqualTo(3);
    assertThat(store.diskStat().keptSegments()).isZero();
    assertThat(store.diskStat().unkept()).isZero();
    assertThat(JournalFixture.keys(store.recovered())).isEqualTo(without(3, 7, BLOCKS - 1));
    assertThat(copy(3)).hasBinaryContent(damaged.get(0));
    assertThat(copy(7)).hasBinaryContent(damaged.get(1));
    assertThat(copy(BLOCKS - 1)).hasBinaryContent(damaged.get(2));
    assertThat(index()).hasSize(3).anyMatch(line -> line.contains("\"PAYLOAD\",\"key\":\"" + KEYS.get(3)))
        .anyMatch(line -> line.contains("\"HEAD\",\"key\":null"));
    close();

    CheckReport after = JournalCheck.run(temporary, CheckProgress.none());
    assertThat(after.clean()).as("%s", after).isTrue();
    assertThat(after.segments().getFirst().asideBytes()).isGreaterThanOrEqualTo(3L * records.getFirst().length());
    open();
    assertThat(store.recovery().dropped()).isZero();
    assertThat(store.diskStat().damaged()).as("met once").isEqualTo(store.diskStat().damagedAtOpening()).isZero();
    assertThat(index()).hasSize(3);
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void damagedMark_ofABlockThatIsWhole_costsNothing(EngineKind engine) throws IOException {
    written(engine);
    flip(5, records.get(5).length() - 3);
    flip(BLOCKS - 1, records.getLast().length() - 6);
    open();
    assertThat(JournalFixture.keys(store.recovered())).isEqualTo(KEYS);
    assertThat(store.recovery().dropped()).isZero();
    assertNothingAside();
  }

  @Test
  void pageThatWasNeverWritten_isDropped_andNotKept() throws IOException {
    written(EngineKind.PLAIN);
    int across = (int) records.stream().takeWhile(record -> record.offset() + HEAD < 4096).count() - 1;
    Location record = records.get(across);
    assertThat(record.offset() + record.length()).as("its payload goes on on the next page")
        .isGreaterThan(4096 + RecordFormat.MARK_BYTES);
    write(across, (int) (4096 - record.offset()),
        new byte[(int) (record.offset() + record.length() - 4096 - RecordFormat.MARK_BYTES)]);
    assertDamaged(1); // a part of a page is not lost alone
    write(across, 0, new byte[record.length()]);
    assertDamaged(0);
  }

  private void assertDamaged(int records) {
    open();
    assertThat(store.recovery().dropped()).isEqualTo(1);
    assertThat(store.recovery().damaged()).isEqualTo(records);
    assertThat(store.recovered()).hasSize(BLOCKS - 1);
    close();
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void lastRecord_damagedBehindACheckpoint_isKeptAside_andNobodyMissesIt(EngineKind engine) throws IOException {
    kind = engine;
    open();
    put();
    close();
    flip(BLOCKS - 1, 25);
    open();
    assertThat(store.diskStat().damaged()).isEqualTo(1);
    assertThat(index()).hasSize(1);
    close();
    assertThat(JournalCheck.run(temporary, CheckProgress.none()).damage()).isEmpty();
  }

  @Test
  void unfinished_atTheEndOfFilesWrittenAnew_isDropped_andNotKept() throws IOException {
    written(EngineKind.PLAIN);
    byte[] older = bytes(2);
    byte[] half = bytes(BLOCKS - 1);
    System.arraycopy(older, 60, half, 60, half.length - 60); // an earlier life of the file shows through, its mark, too
    write(BLOCKS - 1, 0, half);
    try (FileChannel file = segment()) {
      file.write(ByteBuffer.wrap(older, 0, 64), file.size());
    }
    open();
    assertThat(store.recovery().dropped()).isEqualTo(1);
    assertThat(store.recovery().tornSegments()).isEqualTo(1);
    assertNothingAside();
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void damagedFrame_hidesGoodRecords_whichAreNotTouched(EngineKind engine) throws IOException {
    written(engine);
    flip(6, engine == EngineKind.PLAIN ? -8 : -4); // its length
    byte[] hidden = bytes(6);
    open();
    close();
    assertThat(bytes(6)).isEqualTo(hidden);
    assertThat(JournalCheck.run(temporary, CheckProgress.none()).live()).as("what a repair brings back")
        .isEqualTo(BLOCKS);
  }

  @Test
  void damagedRecord_ofABlockThatWasRemoved_isKeptAside_andNotCounted() throws IOException {
    kind = EngineKind.PLAIN;
    open();
    put();
    close();
    open();
    store.recovered().get(3).close();
    close();
    JournalSample.deleteCheckpoints(temporary);
    flip(3, HEAD + 70);
    open();
    assertThat(store.recovery().dropped()).isEqualTo(1);
    assertThat(store.recovery().damaged()).isZero();
    assertThat(store.diskStat().damaged()).isZero();
    assertThat(index()).hasSize(1);
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void tier_countsIt_asItCountsWhatTheScrubFinds_andMissesIt(EngineKind engine) throws IOException {
    written(engine);
    flip(3, HEAD + 70);
    open();
    TierStack tier = new TierStack(JournalSample.SPACE, List.of(new Level.Stored(store, 100)),
        StackOptions.defaults("ssd").withMode(StackMode.WRITE_THROUGH), TierListener.noop());
    Presence there = requireNonNull(tier.contains(KEYS).block(PATIENCE));
    assertThat(there.count()).isEqualTo(BLOCKS - 1);
    assertThat(there.get(3)).isFalse();
    assertThat(requireNonNull(tier.stat().block(PATIENCE)).corrupt()).isEqualTo(1);
    tier.close().block(PATIENCE);
  }

  @Test
  void olderRecord_thatIsWhole_countsInsteadOfADamagedOne() throws IOException {
    written(EngineKind.PLAIN);
    open();
    List<Location> first = records;
    put();
    close();
    JournalSample.deleteCheckpoints(temporary);
    flip(3, HEAD + 70);
    open();
    List<StoredBlock> found = store.recovered();
    assertThat(JournalFixture.keys(found)).containsExactlyInAnyOrderElementsOf(KEYS);
    assertThat(found.stream().map(rest -> ((StoredRecord) rest).location())).contains(first.get(3))
        .doesNotContain(first.get(4));
    assertThat(store.diskStat().damaged()).isEqualTo(1);
  }
}
