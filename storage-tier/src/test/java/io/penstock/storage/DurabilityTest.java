package io.penstock.storage;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.penstock.block.Block;
import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena;
import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.MemoryDisk;
import io.penstock.storage.engine.MemoryEngine;
import io.penstock.storage.engine.StorageFailedException;
import io.penstock.storage.record.RecordFormat;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.Durability;
import io.penstock.tier.Rest;
import io.penstock.tier.StoreUnavailableException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.test.StepVerifier;
import reactor.test.scheduler.VirtualTimeScheduler;

/// When a journal forces what it appended, with a clock that stands still until it is moved.
@Timeout(60)
final class DurabilityTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final int RECORD = RecordFormat.recordBytes(SPACE.layout());
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final Duration SECOND = Duration.ofSeconds(1);
  /// After a failure, the disk is found well so much later.
  private static final Duration PROBE = Duration.ofMillis(5);

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final SlabArena arena = leaks.watch(new SlabArena("host", SPACE.layout(), 256, 4));
  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private final MemoryDisk disk = new MemoryDisk();
  private Medium medium = new Medium(disk);
  private JournalStore store;

  /// A medium that counts what it is asked to force, and may refuse.
  private static final class Medium extends WrappedEngine {
    private final AtomicInteger forced = new AtomicInteger();
    private volatile boolean refuses;
    private volatile Runnable whileForcing = () -> {};
    private volatile Runnable whileAppending = () -> {};
    private volatile boolean closed;
    private volatile boolean breaks;
    /// Segments whose delete fails: before the name is gone, and behind that.
    private volatile int stays;
    private volatile int goes;

    Medium(MemoryDisk disk) {
      super(MemoryEngine.open(disk, new EngineOptions(1 << 20, 0)));
    }

    @Override
    public void sync() {
      if (breaks) {
        throw new IllegalStateException("broken");
      }
      if (refuses) {
        throw new StorageFailedException("sync", new IOException("no"));
      }
      whileForcing.run();
      super.sync();
      forced.incrementAndGet();
    }

    @Override
    public Location append(MemorySegment... parts) {
      if (breaks) {
        throw new IllegalStateException("broken");
      }
      whileAppending.run();
      return super.append(parts);
    }

    @Override
    public void close() {
      closed = true;
      super.close();
    }

    @Override
    public void delete(int segment) {
      if (segment == stays) {
        throw new StorageFailedException("delete", new IOException("no"));
      }
      super.delete(segment);
      if (segment == goes) {
        throw new StorageFailedException("delete", new IOException("half"));
      }
    }
  }

  private void open(SyncRule rule) {
    JournalOptions options = JournalOptions.defaults(Path.of("unused")).withSegmentBytes(1 << 20).withDurability(rule)
        .withHealth(new HealthOptions(Duration.ofHours(10), PROBE, PROBE, PROBE))
        .withReclaim(ReclaimOptions.defaults().withMostSpread(1e9)); // these tests say which segments are there
    store = JournalStore.open(SPACE, options, medium, new SerialExecutor(), Runnable::run, time);
  }

  @AfterEach
  void close() {
    medium.refuses = false;
    if (store != null) {
      store.close().block(PATIENCE);
    }
  }

  private List<Rest> put(long from, long to) {
    List<Block> blocks = Blocks.keys(SPACE, from, to).stream().map(key -> Blocks.block(arena, key)).toList();
    try {
      return requireNonNull(store.put(blocks).block(PATIENCE));
    } finally {
      blocks.forEach(Block::close);
    }
  }

  private void putRefused() {
    try (Block block = Blocks.block(arena, Blocks.key(SPACE, 0))) {
      StepVerifier.create(store.put(List.of(block))).expectErrorMatches(StoreUnavailableException.class::isInstance).verify(PATIENCE);
    }
  }

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
      assertThat(store.syncs().unsyncedBytes()).isLessThanOrEqualTo(8L * RECORD); // the clock stands, so its thread does nothing
    }
    assertThat(medium.forced).hasValueGreaterThanOrEqualTo(200 / 8 - 1);
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

  @Test
  void interval_forcesWhatIsLeftAtTheClose() {
    open(SyncRule.interval(SECOND, 1 << 20));
    put(0, 1);
    store.close().block(PATIENCE);
    assertThat(medium.forced).hasValue(1);
    time.advanceTimeBy(Duration.ofHours(1));
  }

  /// A removal is written anew, the sync of it fails, and the next one succeeds: that proves nothing.
  @Test
  void segmentWhoseCopiesAFailedSyncCovered_stays_andOneWhoseCopiesCameLater_goes() {
    open(SyncRule.interval(SECOND, 1 << 20));
    List<Rest> first = put(0, 2);
    medium.roll();
    first.getFirst().close();
    store.settled().block(PATIENCE); // its removal lies in segment 2
    medium.roll();
    List<Rest> third = put(2, 3);
    medium.refuses = true;
    store.settled().block(PATIENCE); // and now in segment 3, too
    time.advanceTimeBy(SECOND);
    assertThat(store.syncs().failedSyncs()).isPositive();
    medium.refuses = false;
    time.advanceTimeBy(PROBE);
    put(3, 4);
    time.advanceTimeBy(SECOND);
    assertThat(store.syncs().unsyncedBytes()).isZero();
    store.settled().block(PATIENCE);
    assertThat(medium.segments()).containsExactly(1, 2, 3, 4);

    third.getFirst().close();
    store.settled().block(PATIENCE);
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
  void whateverAnEngineThrows_settledAndCloseHearOfIt_andItIsLetGo() {
    open(SyncRule.interval(SECOND, 1 << 20));
    List<Rest> rests = put(0, 2);
    rests.getFirst().close();
    medium.breaks = true;
    StepVerifier.create(store.settled()).expectError(IllegalStateException.class).verify(PATIENCE);
    StepVerifier.create(store.close()).expectError(IllegalStateException.class).verify(PATIENCE);
    assertThat(medium.closed).isTrue();
    store = null;
  }

  /// A removal that must be written anew, since its segment may go; and a record that is dead because its key was put again.
  @Test
  void whileAStoreOpens_nobodySyncs_andThenWhatWaitedGoes() {
    open(SyncRule.none());
    List<Rest> rests = put(0, 2);
    medium.roll();
    rests.getFirst().close();
    store.settled().block(PATIENCE);
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
    while (closer.getState() != Thread.State.BLOCKED) {
      Thread.onSpinWait();
    }
    mayEnd.countDown();
    clock.join();
    closer.join();
    assertThat(medium.forced).hasValue(1);
  }

  @Test
  void deleteThatFails_keepsNoOtherSegment_andOneThatFailedHalfWay_isTakenForDone() {
    open(SyncRule.none());
    List<Rest> all = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      all.addAll(put(i, i + 1));
      medium.roll();
    }
    put(4, 5);
    medium.stays = 1;
    medium.goes = 2;
    all.forEach(Rest::close);
    assertThat(medium.segments()).containsExactly(1, 5);
    StepVerifier.create(store.settled()).expectError(StorageFailedException.class).verify(PATIENCE);
    medium.stays = 0;
    store.settled().block(PATIENCE);
    assertThat(medium.segments()).containsExactly(5);
    assertThat(store.disk().segments()).isEqualTo(1);
    assertThat(store.disk().failure()).isNull();
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
    assertThatIllegalArgumentException().isThrownBy(() -> SyncRule.interval(Duration.ZERO, 1)).withMessage("interval must be >= 1 ms (was PT0S)");
    assertThatIllegalArgumentException().isThrownBy(() -> SyncRule.interval(SECOND, 0)).withMessage("bytes must be > 0 (was 0)");
  }
}
