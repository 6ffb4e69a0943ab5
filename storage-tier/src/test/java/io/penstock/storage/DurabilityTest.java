package io.penstock.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.penstock.storage.disk.SyncRule;
import io.penstock.storage.disk.SyncStat;
import io.penstock.storage.engine.MemoryDisk;
import io.penstock.testkit.Eventually;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.spi.StoredBlock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// When a journal forces what it appended, with a clock that stands still until it is moved.
@Timeout(60)
final class DurabilityTest extends SyncFixture {
  @Test
  void always_forcesEachBatchBeforeItsReceipt() {
    open(SyncRule.always());
    put(0, 3);
    put(3, 6);
    assertThat(medium.forced).hasValue(2);
    assertThat(store.durability()).isEqualTo(Durability.FORCED);
    assertThat(store.syncs()).isEqualTo(new SyncStat(0, 0, 2, 0, 0, null));
  }

  @Test
  void none_forcesNothing_andSaysHowMuchThatIs() {
    open(SyncRule.none());
    put(0, 4);
    time.advanceTimeBy(Duration.ofHours(1));
    assertThat(store.syncs()).isEqualTo(new SyncStat(4L * RECORD, 3_600_000, 0, 0, 0, null));
    assertThat(store.durability()).isEqualTo(Durability.WRITTEN);
    store.close().block(PATIENCE);
    assertThat(medium.forced).hasValue(0);
  }

  @Test
  void interval_forcesWhatIsThatOld_onceAndOnItsOwnThread() {
    open(SyncRule.interval(SECOND, 1 << 20));
    put(0, 1);
    time.advanceTimeBy(Duration.ofMillis(600));
    put(1, 2);
    assertThat(store.syncs()).isEqualTo(new SyncStat(2L * RECORD, 600, 0, 0, 0, null));
    time.advanceTimeBy(Duration.ofMillis(399));
    assertThat(medium.forced).hasValue(0);
    time.advanceTimeBy(Duration.ofMillis(1));
    assertThat(store.syncs()).isEqualTo(new SyncStat(0, 0, 1, 0, 0, null));
    time.advanceTimeBy(Duration.ofHours(1));
    assertThat(medium.forced).as("nothing new").hasValue(1);
    assertThat(store.durability()).isEqualTo(Durability.WRITTEN);
  }

  @Test
  void interval_startsAtHalfTheBytes() {
    open(SyncRule.interval(SECOND, 8L * RECORD));
    put(0, 3);
    time.advanceTimeBy(Duration.ofMillis(1));
    assertThat(medium.forced).hasValue(0);
    put(3, 4);
    time.advanceTimeBy(Duration.ofMillis(1));
    assertThat(medium.forced).hasValue(1);
  }

  @Test
  void interval_neverHasMoreBytesUnsyncedThanItSays() {
    open(SyncRule.interval(SECOND, 8L * RECORD));
    for (int batch = 0; batch < 40; batch++) {
      put(batch * 5L, batch * 5L + 5);
      // The clock stands, so its thread does nothing
      assertThat(store.syncs().unsyncedBytes()).isLessThanOrEqualTo(8L * RECORD);
    }
    assertThat(medium.forced).hasValueGreaterThanOrEqualTo(200 / 8 - 1);
  }

  @Test
  void interval_forcesWhatIsLeftAtTheClose() {
    open(SyncRule.interval(SECOND, 1 << 20));
    put(0, 1);
    store.close().block(PATIENCE);
    assertThat(medium.forced).hasValue(1);
    time.advanceTimeBy(Duration.ofHours(1));
  }

  /// A removal that must be written anew, since its segment may go; and a record that is dead because its key was put
  /// again.
  @Test
  void whileAStoreOpens_noClockSyncs_andThenWhatWaitedGoes() {
    open(SyncRule.none());
    List<StoredBlock> stored = put(0, 2);
    medium.roll();
    stored.getFirst().close();
    store.flush().block(PATIENCE);
    medium.roll();
    put(5, 6);
    put(5, 6);
    MemoryDisk crashed = disk.copy();
    store.close().block(PATIENCE);

    medium = new Medium(crashed);
    List<Integer> syncsBeforeAppends = new ArrayList<>();
    medium.whileAppending = () -> {
      time.advanceTimeBy(SECOND);
      syncsBeforeAppends.add(medium.forced.get());
    };
    open(SyncRule.interval(SECOND, 1 << 20));
    assertThat(syncsBeforeAppends).containsExactly(0, 0);
    medium.whileAppending = () -> {};
    time.advanceTimeBy(SECOND);
    assertThat(medium.forced).hasValue(1);
    assertThat(medium.segments()).doesNotContain(2);
  }

  @Test
  void putsGoOn_whileTheMediumForces_andAreNotTakenForForced() {
    open(SyncRule.interval(SECOND, 1 << 20));
    put(0, 1);
    medium.whileForcing = () -> {
      medium.whileForcing = () -> {};
      put(1, 3); // would wait for ever if it waited for this
    };
    time.advanceTimeBy(SECOND);
    assertThat(medium.forced).hasValue(1);
    assertThat(store.syncs().unsyncedBytes()).isEqualTo(2L * RECORD);
    time.advanceTimeBy(SECOND);
    assertThat(store.syncs().unsyncedBytes()).isZero();
  }

  @Test
  void close_waitsForASyncThatRuns() throws InterruptedException {
    open(SyncRule.interval(SECOND, 1 << 20));
    put(0, 1);
    CountDownLatch runs = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    medium.whileForcing = () -> {
      runs.countDown();
      await(mayEnd);
    };
    Thread clock = Thread.ofPlatform().start(() -> time.advanceTimeBy(SECOND));
    runs.await();
    Thread closer = Thread.ofPlatform().start(() -> store.close().block(PATIENCE));
    Eventually.holds("the closer is blocked", () -> closer.getState() == Thread.State.BLOCKED);
    mayEnd.countDown();
    clock.join();
    closer.join();
    assertThat(medium.forced).hasValue(1);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void rules_refuseWhatMakesNoSense() {
    assertThatIllegalArgumentException().isThrownBy(() -> SyncRule.interval(Duration.ZERO, 1))
        .withMessage("interval must be >= 1 ms (was PT0S)");
    assertThatIllegalArgumentException().isThrownBy(() -> SyncRule.interval(SECOND, 0))
        .withMessage("bytes must be > 0 (was 0)");
  }
}
