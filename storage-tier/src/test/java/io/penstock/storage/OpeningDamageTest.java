package io.penstock.storage;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.stack.TierStack;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.storage.check.CheckProgress;
import io.penstock.storage.check.CheckReport;
import io.penstock.storage.check.JournalCheck;
import io.penstock.storage.engine.Location;
import io.penstock.storage.index.JournalOpening;
import io.penstock.storage.record.RecordFormat;
import io.penstock.tier.Presence;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.StoredBlock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Records of a segment without a checkpoint that were finished, and are found damaged when the journal is opened: each
/// is counted and its bytes are kept aside, once. What a stop leaves unfinished is not.
final class OpeningDamageTest extends OpeningFixture {
  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void damaged_isKeptAside_andCounted_once(EngineKind engine) throws IOException {
    written(engine);
    flip(3, HEAD + 70);
    flip(7, 25);
    List<byte[]> damaged = List.of(bytes(3), bytes(7));
    CheckReport before = JournalCheck.run(temporary, CheckProgress.none());
    assertThat(before.damage()).hasSize(2).allMatch(each -> each.live());
    assertThat(temporary.resolve("quarantine")).as("a check changes nothing").doesNotExist();

    try (LoggedLines logged = new LoggedLines(JournalOpening.class, "")) {
      open();
      assertThat(logged.lines()).singleElement().asString()
          .contains(": 2 records are damaged, and count no more");
    }
    assertThat(store.recovery().dropped()).isEqualTo(2);
    assertThat(store.recovery().damaged()).isEqualTo(2);
    assertThat(store.diskStat().damaged()).isEqualTo(store.diskStat().damagedAtOpening()).isEqualTo(2);
    assertThat(store.diskStat().unkept()).isZero();
    assertThat(JournalFixture.keys(store.recovered())).isEqualTo(without(3, 7));
    assertThat(copy(3)).hasBinaryContent(damaged.get(0));
    assertThat(index()).hasSize(2).anyMatch(line -> line.contains("\"PAYLOAD\",\"key\":\"" + KEYS.get(3)))
        .anyMatch(line -> line.contains("\"HEAD\",\"key\":null"));
    close();

    assertThat(JournalCheck.run(temporary, CheckProgress.none()).damage()).as("nothing was written over it").hasSize(2);
    open();
    assertThat(store.recovery().dropped()).isZero();
    assertThat(store.diskStat().damaged()).as("met once").isEqualTo(store.diskStat().damagedAtOpening()).isZero();
    assertThat(index()).hasSize(2);
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

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = {"PLAIN", "CHRONICLE"})
  void tier_countsIt_asItCountsWhatTheScrubFinds_andMissesIt(EngineKind engine) throws IOException {
    written(engine);
    flip(3, HEAD + 70);
    open();
    TierStack tier = new TierStack(JournalSample.SPACE, List.of(new StackLevel.Stored(store, 100)),
        StackOptions.defaults("ssd").withMode(StackOptions.Mode.WRITE_THROUGH), TierListener.noop());
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
    assertThat(found.stream().map(block -> ((StoredRecord) block).at())).contains(first.get(3))
        .doesNotContain(first.get(4));
    assertThat(store.diskStat().damaged()).isEqualTo(1);
  }
}
