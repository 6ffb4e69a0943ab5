package io.penstock.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.storage.disk.SyncRule;
import io.penstock.storage.disk.SyncStat;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import io.penstock.testkit.Blocks;
import io.penstock.tier.spi.StoredBlock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.test.StepVerifier;

/// What a journal makes of a medium that does not force, or does not delete, what it was told.
@Timeout(60)
final class FailedSyncTest extends SyncFixture {
  @Test
  void always_whenTheMediumRefuses_acknowledgesNothing_andTheNextBatchLiesInAnotherSegment() {
    open(SyncRule.always());
    put(0, 1);
    int before = medium.activeSegment();
    medium.refuses = true;
    putRefused();
    assertThat(store.syncs().failedSyncs()).isEqualTo(1);
    assertThat(store.syncs().failure()).isInstanceOf(StorageFailedException.class);
    assertThat(store.diskStat().failedSyncs()).isEqualTo(1);
    assertThat(store.diskStat().problems()).singleElement().asString().startsWith("sync: could not");
    medium.refuses = false;
    time.advanceTimeBy(PROBE);
    put(1, 2);
    assertThat(medium.activeSegment()).isGreaterThan(before);
    assertThat(store.diskStat().putBytes()).isEqualTo(store.disk().userBytes()).isPositive();
    assertThat(store.syncs()).isEqualTo(new SyncStat(0, 0, 2, 1, RECORD, store.syncs().failure()));
    assertThat(store.syncs().failure()).as("is not forgotten").isNotNull();
  }

  @Test
  void always_whenASyncEndsInAnError_keepsNoBlockOfTheBatch() {
    open(SyncRule.always());
    put(0, 1);
    medium.whileForcing = () -> {
      throw new AssertionError("a page is gone");
    };
    try (Block block = Blocks.block(arena, Blocks.key(SPACE, 1))) {
      StepVerifier.create(store.put(List.of(block))).expectError(AssertionError.class).verify(PATIENCE);
    }
    medium.whileForcing = () -> {};
    store.flush().block(PATIENCE);
    assertThat(store.disk().liveBytes()).isEqualTo(RECORD);
    assertThat(store.locations().size()).isEqualTo(1);
    medium = new Medium(disk.copy());
    store.close().block(PATIENCE);
    open(SyncRule.always());
    assertThat(keys(store.recovered())).containsExactly(Blocks.key(SPACE, 0));
  }

  @Test
  void interval_whenTheMediumRefuses_triesAgain_andKeepsItsPromiseMeanwhile() {
    open(SyncRule.interval(SECOND, 8L * RECORD));
    put(0, 1);
    medium.refuses = true;
    time.advanceTimeBy(Duration.ofSeconds(3));
    assertThat(store.syncs().failedSyncs()).isEqualTo(3);
    assertThat(store.syncs().unsyncedMillis()).isEqualTo(3000);
    time.advanceTimeBy(PROBE);
    put(1, 8);
    putRefused(); // one more would be more than 8
    assertThat(store.syncs().unsyncedBytes()).isEqualTo(8L * RECORD);
    medium.refuses = false;
    time.advanceTimeBy(SECOND);
    assertThat(store.syncs().failure()).as("is not forgotten").isNotNull();
    assertThat(store.syncs().lostBytes()).isEqualTo(8L * RECORD);
    assertThat(store.syncs().unsyncedBytes()).isZero();
    put(8, 9);
    time.advanceTimeBy(SECOND);
    assertThat(store.syncs().lostBytes()).isEqualTo(8L * RECORD);
  }

  /// A removal is written anew, the sync of it fails, and the next one succeeds: that proves nothing.
  @Test
  void segmentWhoseCopiesAFailedSyncCovered_stays_andOneWhoseCopiesCameLater_goes() {
    open(SyncRule.interval(SECOND, 1 << 20));
    List<StoredBlock> first = put(0, 2);
    medium.roll();
    first.getFirst().close();
    store.flush().block(PATIENCE); // its removal lies in segment 2
    medium.roll();
    List<StoredBlock> third = put(2, 3);
    medium.refuses = true;
    store.flush().block(PATIENCE); // and now in segment 3, too
    time.advanceTimeBy(SECOND);
    assertThat(store.syncs().failedSyncs()).isPositive();
    medium.refuses = false;
    time.advanceTimeBy(PROBE);
    put(3, 4);
    time.advanceTimeBy(SECOND);
    assertThat(store.syncs().unsyncedBytes()).isZero();
    store.flush().block(PATIENCE);
    assertThat(medium.segments()).containsExactly(1, 2, 3, 4);

    third.getFirst().close();
    store.flush().block(PATIENCE);
    time.advanceTimeBy(SECOND);
    assertThat(medium.segments()).containsExactly(1, 2, 4);
    assertThat(store.disk().failure()).isNull();
  }

  @Test
  void close_afterAFailedSync_saysSo_alsoIfTheNextOneSucceeds() {
    open(SyncRule.interval(SECOND, 1 << 20));
    put(0, 1);
    medium.refuses = true;
    time.advanceTimeBy(SECOND);
    medium.refuses = false;
    StepVerifier.create(store.close()).expectError(StorageFailedException.class).verify(PATIENCE);
    store = null;
  }

  @Test
  void close_whenTheMediumRefuses_saysSo_andLetsGoOfItAllTheSame() {
    open(SyncRule.interval(SECOND, 1 << 20));
    put(0, 1);
    medium.refuses = true;
    StepVerifier.create(store.close()).expectError(StorageFailedException.class).verify(PATIENCE);
    assertThat(medium.closed).isTrue();
    store = null;
  }

  @Test
  void whateverAnEngineThrows_flushAndCloseHearOfIt_andItIsLetGo() {
    open(SyncRule.interval(SECOND, 1 << 20));
    List<StoredBlock> stored = put(0, 2);
    stored.getFirst().close();
    medium.breaks = true;
    StepVerifier.create(store.flush()).expectError(IllegalStateException.class).verify(PATIENCE);
    StepVerifier.create(store.close()).expectError(IllegalStateException.class).verify(PATIENCE);
    assertThat(medium.closed).isTrue();
    store = null;
  }

  @Test
  void deleteThatFails_keepsNoOtherSegment_andOneThatFailedHalfWay_isTakenForDone() {
    open(SyncRule.none());
    List<StoredBlock> all = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      all.addAll(put(i, i + 1));
      medium.roll();
    }
    put(4, 5);
    medium.stays = 1;
    medium.goes = 2;
    all.forEach(StoredBlock::close);
    assertThat(medium.segments()).containsExactly(1, 5);
    StepVerifier.create(store.flush()).expectError(StorageFailedException.class).verify(PATIENCE);
    medium.stays = 0;
    store.flush().block(PATIENCE);
    assertThat(medium.segments()).containsExactly(5);
    assertThat(store.disk().segments()).isEqualTo(1);
    assertThat(store.disk().failure()).isNull();
  }
}
