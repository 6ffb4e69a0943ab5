package io.penstock.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.SlabArena;
import io.penstock.storage.FaultyEngine.Fault;
import io.penstock.storage.FaultyEngine.Work;
import io.penstock.storage.disk.HealthOptions;
import io.penstock.storage.disk.SuspectRecords;
import io.penstock.storage.disk.SyncRule;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.MemoryDisk;
import io.penstock.storage.engine.MemoryEngine;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.spi.BlockUnreadableException;
import io.penstock.tier.spi.StoreUnavailableException;
import io.penstock.tier.spi.StoredBlock;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.test.scheduler.VirtualTimeScheduler;

/// What a journal says of its disk, what it refuses, and how it comes back; on a clock that stands still until it is
/// moved.
@Timeout(60)
final class DiskHealthTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final HealthOptions HEALTH =
      new HealthOptions(Duration.ofSeconds(2), Duration.ofMillis(100), Duration.ofSeconds(5), Duration.ofSeconds(5));

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final LoggedLines logged = new LoggedLines(JournalEnd.class, "");
  private final SlabArena arena = leaks.watch(new SlabArena("host", SPACE.layout(), 256, 4));
  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private final FaultyEngine disk =
      new FaultyEngine(MemoryEngine.open(new MemoryDisk(), new EngineOptions(1 << 20, 0)));
  private final ExecutorService appending = Executors.newSingleThreadExecutor();
  private final ExecutorService reading = Executors.newSingleThreadExecutor();
  private final JournalStore store = open();
  private final AtomicInteger changes = new AtomicInteger();

  private JournalStore open() {
    JournalOptions options = JournalOptions.defaults(Path.of("unused")).withSegmentBytes(1 << 20)
        .withDurability(SyncRule.interval(
            Duration.ofSeconds(1), 1 << 20))
        .withHealth(HEALTH).withReclaim(ReclaimOptions.defaults().withMostSpread(1e9));
    JournalStore opened = JournalStore.open(SPACE, options, disk, appending, reading, time);
    opened.watch(() -> changes.incrementAndGet());
    return opened;
  }

  @AfterEach
  void close() {
    disk.mend();
    store.close().onErrorComplete(StoreUnavailableException.class).block(PATIENCE); // one that was stuck was left
    appending.shutdown();
    reading.shutdown();
    logged.close();
  }

  private CompletableFuture<List<StoredBlock>> putLater(long number) {
    Block block = Blocks.block(arena, Blocks.key(SPACE, number));
    return store.put(List.of(block)).doFinally(end -> block.close()).toFuture();
  }

  private StoredBlock put(long number) throws Exception {
    return ended(putLater(number)).getFirst();
  }

  private CompletableFuture<Void> readLater(StoredBlock stored) {
    BlockDraft draft = Blocks.draft(arena, stored.key());
    return store.read(List.of(stored), List.of(draft), GranuleRange.all(SPACE.layout())).doOnSuccess(nothing -> {
      try (Block block = draft.seal()) {
        Blocks.assertBytes(block);
      }
    }).doFinally(end -> draft.close()).toFuture();
  }

  private void read(StoredBlock stored) throws Exception {
    ended(readLater(stored));
  }

  private static <T> T ended(CompletableFuture<T> work) throws Exception {
    return work.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
  }

  private static void assertUnavailable(CompletableFuture<?> work) {
    assertThatThrownBy(() -> ended(work)).cause().isInstanceOf(StoreUnavailableException.class);
  }

  private void assertState(StoreHealth.State state) {
    time.advanceTime(); // the clock tells the watchers
    assertThat(store.health().state()).as("%s", store.health()).isEqualTo(state);
  }

  /// Moves the clock by `seconds`, in steps in which ticks count.
  private void pass(int seconds) {
    time.advanceTimeBy(Duration.ofSeconds(seconds));
  }

  @ParameterizedTest
  @EnumSource
  void diskThatTakesNothing_isDegraded_gives_andComesBackByItself(Fault fault) throws Exception {
    StoredBlock first = put(0);
    disk.fail(fault, Work.APPEND, Work.PROBE);
    assertUnavailable(putLater(1));
    assertState(StoreHealth.State.DEGRADED);
    assertThat(store.health().problem()).isNotBlank();
    assertThatThrownBy(() -> ended(putLater(2))).cause()
        .hasMessageStartingWith("store ssd must be active (was degraded: ");
    read(first);
    pass(60);
    assertState(StoreHealth.State.DEGRADED);
    assertThat(changes).hasValue(1);
    disk.mend();
    pass(5);
    assertState(StoreHealth.State.ACTIVE);
    assertThat(changes).hasValue(2);
    read(put(3));
    read(first);
  }

  @Test
  void fullDisk_isTriedAgainAfterAWhile_andNotBefore() throws Exception {
    disk.fail(Fault.NO_SPACE, Work.APPEND);
    assertUnavailable(putLater(0));
    assertState(StoreHealth.State.DEGRADED);
    time.advanceTimeBy(Duration.ofMillis(99));
    assertState(StoreHealth.State.DEGRADED);
    time.advanceTimeBy(Duration.ofMillis(1));
    assertState(StoreHealth.State.ACTIVE);
    disk.mend();
    put(0);
  }

  @Test
  void appendThatHangs_turnsOff_failsWhatWaits_andKeepsTheBatchUnderWay() throws Exception {
    StoredBlock first = put(0);
    disk.stall(Work.APPEND);
    CompletableFuture<List<StoredBlock>> stuck = putLater(1);
    disk.awaitStuck();
    CompletableFuture<List<StoredBlock>> waiting = putLater(2);
    pass(2);
    assertState(StoreHealth.State.ACTIVE);
    pass(1);
    assertState(StoreHealth.State.OFF);
    assertUnavailable(waiting);
    assertUnavailable(putLater(3));
    assertUnavailable(readLater(first));
    assertThat(stuck).isNotDone();
    assertThat(arena.claimedSlots()).as("the batch under way").isEqualTo(1);
    disk.mend();
    StoredBlock second = ended(stuck).getFirst();
    pass(10);
    assertState(StoreHealth.State.ACTIVE);
    read(second);
    read(first);
    read(put(4));
  }

  @Test
  void readThatHangs_turnsOff_andOnlyItsOwnDraftsStay() throws Exception {
    StoredBlock first = put(0);
    disk.stall(Work.READ);
    CompletableFuture<Void> stuck = readLater(first);
    disk.awaitStuck();
    CompletableFuture<Void> waiting = readLater(first);
    pass(3);
    assertState(StoreHealth.State.OFF);
    assertUnavailable(waiting);
    assertThat(stuck).isNotDone();
    disk.mend();
    assertUnavailable(stuck);
    pass(10);
    assertState(StoreHealth.State.ACTIVE);
    read(first);
  }

  @Test
  void readsThatFail_turnOff_loseNothing_andComeBack() throws Exception {
    List<StoredBlock> storedBlocks = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      storedBlocks.add(put(i));
    }
    disk.fail(Fault.IO_ERROR, Work.READ);
    for (int i = 0; i < SuspectRecords.TOO_MANY; i++) {
      assertState(StoreHealth.State.ACTIVE);
      assertUnavailable(readLater(storedBlocks.get(i)));
    }
    assertState(StoreHealth.State.OFF);
    pass(8);
    assertState(StoreHealth.State.OFF);
    disk.mend();
    pass(5);
    assertState(StoreHealth.State.ACTIVE);
    for (StoredBlock stored : storedBlocks) {
      read(stored);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"PROBE", "READ"})
  void errorOfAProbe_isAFailureLikeAnother_andItIsTriedAgain(Work work) throws Exception {
    List<StoredBlock> storedBlocks = List.of(put(0), put(1), put(2));
    disk.fail(Fault.IO_ERROR, Work.READ);
    for (StoredBlock stored : storedBlocks) {
      assertUnavailable(readLater(stored));
    }
    assertState(StoreHealth.State.OFF);
    disk.mend();
    disk.err(work);
    pass(30);
    assertState(work == Work.READ ? StoreHealth.State.OFF : StoreHealth.State.DEGRADED);
    disk.mend();
    pass(5);
    assertState(StoreHealth.State.ACTIVE);
    for (StoredBlock stored : storedBlocks) {
      read(stored);
    }
  }

  @Test
  void oneRecordThatCannotBeRead_isGivenUp_andTheDiskIsNot() throws Exception {
    StoredBlock bad = put(0);
    StoredBlock good = put(1);
    disk.failAt(((StoredRecord) bad).at());
    assertThatThrownBy(() -> read(bad)).cause().isInstanceOf(StorageFailedException.class);
    read(good);
    pass(1);
    assertState(StoreHealth.State.ACTIVE);
    assertThatThrownBy(() -> read(bad)).cause().isInstanceOfSatisfying(BlockUnreadableException.class,
        e -> assertThat(e.key()).isEqualTo(bad.key()));
    read(good);
    assertThat(changes).hasValue(0);
  }

  @Test
  void oneRecordThatCannotBeRead_isGivenUp_alsoIfTheDiskIsFull() throws Exception {
    StoredBlock bad = put(0);
    StoredBlock good = put(1);
    disk.fail(Fault.NO_SPACE, Work.APPEND, Work.PROBE);
    assertUnavailable(putLater(2));
    disk.failAt(((StoredRecord) bad).at());
    assertThatThrownBy(() -> read(bad)).cause().isInstanceOf(StorageFailedException.class);
    read(good);
    pass(60);
    assertState(StoreHealth.State.DEGRADED);
    assertThatThrownBy(() -> read(bad)).cause().isInstanceOf(BlockUnreadableException.class);
    read(good);
  }

  @Test
  void recordThatFailedInPassing_isReadAgain() throws Exception {
    StoredBlock stored = put(0);
    disk.failAt(((StoredRecord) stored).at());
    assertThatThrownBy(() -> read(stored)).cause().isInstanceOf(StorageFailedException.class);
    disk.failAt();
    pass(1);
    read(stored);
  }

  @Test
  void readThatHangs_afterTheClose_isToldToWatchers() throws Exception {
    StoredBlock first = put(0);
    disk.stall(Work.READ);
    CompletableFuture<Void> stuck = readLater(first);
    disk.awaitStuck();
    CompletableFuture<Void> waiting = readLater(first);
    CompletableFuture<Void> closed = store.close().toFuture();
    pass(3);
    assertState(StoreHealth.State.OFF);
    assertThat(changes).hasValue(1);
    assertUnavailable(waiting);
    assertThat(closed).as("a thread may still write to the draft").isNotDone();
    disk.mend();
    assertUnavailable(stuck);
    ended(closed);
  }

  @Test
  void closeWhileOff_endsWhenTheDiskAnswers() throws Exception {
    disk.stall(Work.APPEND);
    CompletableFuture<List<StoredBlock>> stuck = putLater(0);
    disk.awaitStuck();
    pass(3);
    CompletableFuture<Void> closed = store.close().toFuture();
    assertThat(closed).isNotDone();
    disk.mend();
    ended(stuck);
    ended(closed);
  }

  /// A read may take 2 s, and letting go of the directory 8 s; a close waits 5 s.
  @ParameterizedTest
  @CsvSource({"APPEND, 4, 1", "CLOSE, 7, 2"})
  void closeOfADiskThatIsStuck_endsInItsTime_notBecauseItIsSlow_andTheRestComesWithTheDisk(Work work, int slow,
      int more) throws Exception {
    put(0);
    pass(2); // synced: that has the clock of this test
    disk.stall(work);
    CompletableFuture<List<StoredBlock>> stuck =
        work == Work.APPEND ? putLater(1) : CompletableFuture.completedFuture(List.of());
    CompletableFuture<Void> closed = store.close().toFuture();
    disk.awaitStuck();
    pass(slow);
    assertThat(closed).isNotDone();
    pass(more);
    assertUnavailable(closed);
    assertUnavailable(store.close().toFuture());
    assertThat(disk.isClosed()).isFalse();
    disk.mend();
    ended(stuck);
    appending.shutdown();
    assertThat(appending.awaitTermination(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(disk.isClosed()).as("the engine, which has the lock").isTrue();
    assertThat(logged.lines()).singleElement().asString().startsWith("store ssd is left as it is");
  }

  @Test
  void failureOfADiskThatWasLeft_isLogged_once() throws Exception {
    disk.stall(Work.CLOSE);
    CompletableFuture<Void> closed = store.close().toFuture();
    disk.awaitStuck();
    pass(9);
    assertUnavailable(closed);
    disk.fail(Fault.IO_ERROR, Work.CLOSE);
    disk.release();
    appending.shutdown();
    assertThat(appending.awaitTermination(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(logged.lines()).hasSize(2);
    assertThat(logged.lines().getLast()).startsWith("store ssd was left, and did not end well")
        .contains("could not CLOSE", "Input/output error");
  }
}
