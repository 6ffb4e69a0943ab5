package io.penstock.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.KvException;
import io.penstock.block.BlockDraft;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.storage.disk.SyncRule;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.MemoryDisk;
import io.penstock.storage.engine.MemoryEngine;
import io.penstock.storage.record.RecordFormat;
import io.penstock.testkit.Blocks;
import io.penstock.tier.spi.BlockUnreadableException;
import io.penstock.tier.spi.StoredBlock;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.test.StepVerifier;
import reactor.test.scheduler.VirtualTimeScheduler;

/// What becomes of a block whose record the disk does not give: found once, it is lost once, by the scrub or by a
/// reader.
@Timeout(60)
final class UnreadableRecordsTest extends JournalFixture {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final int RECORD = RecordFormat.recordBytes(SPACE.layout());
  private static final ScrubOptions SCRUB = new ScrubOptions(1 << 20, Duration.ofHours(1));

  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private final MemoryDisk medium = new MemoryDisk();
  private FaultyEngine disk = new FaultyEngine(MemoryEngine.open(medium, new EngineOptions(1 << 20, 0)));
  private final JournalStore store = open();
  private final List<StoredBlock> storedBlocks = put(store, 0, 10);
  private final StoredBlock bad = storedBlocks.get(2);

  UnreadableRecordsTest() {
    super(SPACE);
  }

  private JournalStore open() {
    JournalOptions options =
        JournalOptions.defaults(Path.of("unused")).withSegmentBytes(1 << 20).withDurability(SyncRule.none())
            .withReclaim(ReclaimOptions.defaults().withMostSpread(1e9));
    return closing(JournalStore.open(SPACE, options, disk, new SerialExecutor(), Runnable::run, time));
  }

  private static Location at(StoredBlock stored) {
    return ((StoredRecord) stored).at();
  }

  private void assertFails(StoredBlock stored, Class<? extends KvException> failure) {
    try (BlockDraft draft = Blocks.draft(arena, stored.key())) {
      StepVerifier.create(store.read(List.of(stored), List.of(draft), GranuleRange.all(SPACE.layout())))
          .expectError(failure).verify(PATIENCE);
    }
  }

  /// One reader is not given it, others are given others, and it is tried again.
  private void giveUpBad() {
    assertFails(bad, StorageFailedException.class);
    assertReadable(store, storedBlocks.subList(0, 2));
    time.advanceTimeBy(Duration.ofSeconds(2));
  }

  private void assertLostOnce() {
    assertThat(store.isIntact(bad)).isFalse();
    assertThat(store.diskStat().unreadable()).isEqualTo(1);
    assertThat(store.disk().liveBytes()).isEqualTo(9L * RECORD);
    assertFails(bad, BlockUnreadableException.class);
    assertFails(bad, BlockUnreadableException.class);
    bad.close();
    assertThat(store.disk().liveBytes()).isEqualTo(9L * RECORD);
    assertReadable(store, storedBlocks.stream().filter(stored -> !stored.equals(bad)).toList());
  }

  @Test
  void recordThatIsGivenUp_isLostToItsFirstReader() {
    disk.failAt(at(bad));
    giveUpBad();
    assertThat(store.isIntact(bad)).isTrue();
    assertFails(bad, BlockUnreadableException.class);
    assertLostOnce();
  }

  @Test
  void recordThatIsGivenUp_isLostToTheScrubber_whoGoesOnBehindIt() {
    disk.failAt(at(bad));
    giveUpBad();
    store.scrub(SCRUB);
    time.advanceTimeBy(Duration.ofMinutes(1));
    assertThat(store.scrubbed().passes()).isEqualTo(1);
    assertThat(store.scrubbed().bytes()).isEqualTo(9L * RECORD);
    assertThat(store.diskStat().problems()).as("it is not tried again").isEmpty();
    assertLostOnce();
  }

  @Test
  void recordThatTheScrubberIsNotGiven_isNotLostBeforeItWasTriedAgain() {
    disk.failAt(at(bad));
    store.scrub(SCRUB);
    time.advanceTimeBy(Duration.ofMinutes(1));
    assertThat(store.isIntact(bad)).isTrue();
    assertThat(store.diskStat().unreadable()).isZero();
    assertThat(store.scrubbed().failed()).isEqualTo(1);
    assertThat(store.diskStat().problems()).singleElement().asString().startsWith("scrub: could not read");
    time.advanceTimeBy(Duration.ofHours(1)); // the next pass
    assertThat(store.scrubbed().failed()).isEqualTo(2);
    assertThat(store.diskStat().problems()).as("it is not tried again").isEmpty();
    assertLostOnce();
  }

  @Test
  void recordThatCanBeReadAgain_countsAsNoOther() {
    disk.failAt(at(bad));
    giveUpBad();
    disk.failAt();
    assertReadable(store, storedBlocks);
    disk.failAt(at(bad));
    assertFails(bad, StorageFailedException.class);
    assertThat(store.isIntact(bad)).isTrue();
    disk.failAt();
    time.advanceTimeBy(Duration.ofSeconds(2));
    assertReadable(store, storedBlocks);
  }

  @Test
  void lostBlock_doesNotComeBack_ifItsHeadCanBeRead() {
    disk.failBehind(RecordFormat.headBytes(SPACE.layout()), at(bad));
    giveUpBad();
    store.scrub(SCRUB);
    time.advanceTimeBy(Duration.ofMinutes(1));
    assertLostOnce();
    store.flush().block(PATIENCE);
    disk = new FaultyEngine(MemoryEngine.open(medium.copy(), new EngineOptions(1 << 20, 0)));
    assertThat(keys(open().recovered())).doesNotContain(bad.key()).hasSize(9);
  }

  @Test
  void lostBlock_doesNotComeBack_ifAReaderSaidWhoseItWas() {
    disk.failAt(at(bad));
    giveUpBad();
    assertFails(bad, BlockUnreadableException.class);
    store.flush().block(PATIENCE);
    disk = new FaultyEngine(MemoryEngine.open(medium.copy(), new EngineOptions(1 << 20, 0)));
    assertThat(keys(open().recovered())).doesNotContain(bad.key()).hasSize(9);
  }
}
