package io.penstock.storage;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.stack.TierStack;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.storage.disk.HealthOptions;
import io.penstock.storage.disk.JournalClock;
import io.penstock.storage.disk.SyncRule;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.MemoryDisk;
import io.penstock.storage.engine.MemoryEngine;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.Eventually;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.Reservation;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierListener;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.test.scheduler.VirtualTimeScheduler;

/// A journal that could not be opened at first.
@Timeout(60)
final class LateJournalTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final Duration SOON = Duration.ofSeconds(5);
  private static final StorageFailedException READ_ONLY =
      new StorageFailedException("open", new IOException("Read-only file system"));

  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private final MemoryDisk disk = new MemoryDisk();
  private final JournalOptions options =
      JournalOptions.defaults(Path.of("unused")).withName("late").withSegmentBytes(1 << 20)
          .withDurability(SyncRule.none());
  private boolean broken = true;

  private JournalStore journal() {
    if (broken) {
      throw READ_ONLY;
    }
    return journal(engine(), new SerialExecutor());
  }

  private SegmentEngine engine() {
    return MemoryEngine.open(disk, new EngineOptions(1 << 20, 0));
  }

  private JournalStore journal(SegmentEngine engine, Executor appending) {
    return JournalStore.open(SPACE, options, engine, appending, Runnable::run, time);
  }

  private TierStack stack(LateJournal late) {
    return new TierStack(SPACE, List.of(new StackLevel.Host("dram", 2), new StackLevel.Stored(late, 100)),
        StackOptions.defaults("stack").withMode(StackOptions.Mode.WRITE_THROUGH), TierListener.noop());
  }

  private LateJournal late() {
    return late(this::journal, JournalClock.of(time), () -> {});
  }

  private LateJournal late(Supplier<JournalStore> opening, JournalClock clock, Runnable stopping) {
    return late(opening, journal -> {}, clock, stopping);
  }

  private LateJournal late(Supplier<JournalStore> opening, Consumer<JournalStore> begun, JournalClock clock,
      Runnable stopping) {
    AtomicBoolean isFirst = new AtomicBoolean(true);
    LateJournal late = new LateJournal(SPACE, options, () -> {
      if (isFirst.getAndSet(false)) {
        throw READ_ONLY;
      }
      return opening.get();
    }, begun, clock, stopping);
    late.begin();
    time.advanceTime();
    return late;
  }

  @Test
  void stackOverADiskThatCannotBeOpened_goesOnWithout_andFindsWhatIsThereLater() {
    broken = false;
    TierStack before =
        new TierStack(SPACE, List.of(new StackLevel.Stored(journal(), 100)), StackOptions.defaults("stack")
            .withMode(StackOptions.Mode.WRITE_THROUGH), TierListener.noop());
    assertThat(put(before, 1)).isEqualTo(Durability.WRITTEN);
    assertThat(put(before, 2)).isEqualTo(Durability.WRITTEN);
    before.close().block(SOON);

    broken = true;
    LateJournal late = late();
    TierStack stack = stack(late);
    assertThat(late.health())
        .isEqualTo(
            new StoreHealth(StoreHealth.State.OFF, "could not open: java.io.IOException: Read-only file system"));
    assertThat(put(stack, 3)).isEqualTo(Durability.VOLATILE);
    assertThat(put(stack, 2)).as("not known any more").isEqualTo(Durability.VOLATILE);
    assertThat(present(stack)).isEqualTo("0011");
    time.advanceTimeBy(Duration.ofMinutes(1));
    assertThat(present(stack)).isEqualTo("0011");
    broken = false;
    time.advanceTimeBy(Duration.ofSeconds(5));
    assertThat(late.health()).isEqualTo(StoreHealth.GOOD);
    assertThat(present(stack)).isEqualTo("0111");
    assertThat(put(stack, 4)).isEqualTo(Durability.WRITTEN);
    stack.close().block(SOON);
    assertThat(stack.arena().claimedSlots()).isZero();

    TierStack after =
        new TierStack(SPACE, List.of(new StackLevel.Stored(journal(), 100)), StackOptions.defaults("stack")
            .withMode(StackOptions.Mode.WRITE_THROUGH), TierListener.noop());
    assertThat(present(after)).as("3 was written when the disk was back").isEqualTo("0111");
    after.close().block(SOON);
  }

  @Test
  void watcherWhoFails_keepsNoOtherFromHearing() {
    broken = false;
    AtomicInteger told = new AtomicInteger();
    LateJournal late = late();
    late.watch(() -> {
      throw new InternalError("no thread");
    });
    late.watch(told::incrementAndGet);
    time.advanceTimeBy(Duration.ofMillis(100));
    assertThat(told).hasValue(1);
    late.close().block(SOON);
  }

  @Test
  void errorInTheMidstOfAnOpening_closesTheEngine() {
    FaultyEngine engine = new FaultyEngine(engine()) {
      @Override
      public List<Integer> segments() {
        throw new InternalError("a page is gone");
      }
    };
    assertThatThrownBy(() -> journal(engine, new SerialExecutor())).isInstanceOf(InternalError.class);
    assertThat(engine.isClosed()).isTrue();
  }

  @Test
  void storeThatCannotBeBegun_isClosed(@TempDir Path folder) {
    JournalOptions own = JournalOptions.defaults(folder).withEngine(EngineKind.PLAIN);
    AtomicInteger begun = new AtomicInteger();
    assertThatThrownBy(() -> LateJournal.open(SPACE, own, journal -> {
      begun.incrementAndGet();
      throw new InternalError("no thread");
    })).isInstanceOf(InternalError.class);
    assertThat(begun).hasValue(1);
    JournalStore.open(SPACE, own).close().block(SOON); // its lock is free
  }

  @Test
  void closedWhileAStoreThatCannotBeBegunIsClosed_endsWhenThatIs() {
    List<Runnable> tasks = new ArrayList<>();
    LateJournal late = late(() -> journal(engine(), tasks::add), journal -> {
      throw new IllegalStateException("no meters");
    }, JournalClock.of(time), () -> {});
    time.advanceTimeBy(Duration.ofMillis(100));
    assertThat(late.health().problem()).contains("no meters");
    CompletableFuture<Void> closed = late.close().toFuture();
    assertThat(closed).isNotDone();
    for (int i = 0; i < tasks.size(); i++) {
      tasks.get(i).run();
    }
    assertThat(closed).isCompleted();
    broken = false;
    journal().close().block(SOON); // the disk is free
  }

  @Test
  void closedBeforeItCouldBeOpened_neverOpens() {
    LateJournal late = late();
    late.close().block(SOON);
    broken = false;
    time.advanceTimeBy(Duration.ofMinutes(1));
    assertThat(late.health().state()).isEqualTo(StoreHealth.State.OFF);
    assertThatThrownBy(() -> late.put(List.of()).block(SOON)).hasMessageContaining("closed");
  }

  @Test
  void closedWhileItIsOpened_endsWhenThatHasEnded() {
    broken = false;
    AtomicReference<LateJournal> opening = new AtomicReference<>();
    AtomicReference<CompletableFuture<Void>> closed = new AtomicReference<>();
    AtomicInteger stops = new AtomicInteger();
    opening.set(late(() -> {
      closed.set(opening.get().close().toFuture());
      assertThat(closed.get()).isNotDone();
      assertThat(stops).hasValue(0);
      return journal();
    }, JournalClock.of(time), stops::incrementAndGet));
    time.advanceTimeBy(Duration.ofMillis(100));
    assertThat(closed.get()).isCompleted();
    assertThat(stops).hasValue(1);
    journal().close().block(SOON); // the disk is free
  }

  @Test
  void closedTwiceWhileItIsOpened_endsTwiceWhenItIsReallyClosed() {
    List<Runnable> tasks = new ArrayList<>();
    AtomicReference<LateJournal> opening = new AtomicReference<>();
    AtomicReference<CompletableFuture<Void>> closed = new AtomicReference<>();
    AtomicInteger stops = new AtomicInteger();
    opening.set(late(() -> {
      closed.set(opening.get().close().toFuture());
      return journal(engine(), tasks::add);
    }, JournalClock.of(time), stops::incrementAndGet));
    time.advanceTimeBy(Duration.ofMillis(100));
    CompletableFuture<Void> again = opening.get().close().toFuture();
    assertThat(closed.get()).isNotDone();
    assertThat(again).isNotDone();
    assertThat(stops).hasValue(0);
    for (int i = 0; i < tasks.size(); i++) {
      tasks.get(i).run();
    }
    assertThat(closed.get()).isCompleted();
    assertThat(again).isCompleted();
    assertThat(stops).hasValue(1);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void closedWhileItIsOpened_byADiskThatDoesNotAnswer_endsInItsTime(boolean fails) throws Exception {
    LoggedLines logged = new LoggedLines(LateJournal.class, "store " + options.name());
    broken = fails;
    List<Runnable> later = new ArrayList<>();
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch stuck = new CountDownLatch(1);
    LateJournal late = late(() -> {
      inside.countDown();
      assertThatCode(stuck::await).doesNotThrowAnyException();
      return journal();
    }, new JournalClock() {
      @Override
      public long millis() {
        return 0;
      }

      @Override
      public void after(long millis, Runnable task) {
        later.add(task);
      }

      @Override
      public boolean runs() {
        return true;
      }
    }, () -> {});
    later.getFirst().run(); // fails; behind it a line in the log, and the next attempt
    Thread opening = Thread.ofPlatform().start(later.get(2));
    inside.await();
    CompletableFuture<Void> closed = late.close().toFuture();
    assertThat(closed).isNotDone();
    later.get(4).run(); // behind the next line in the log
    assertThat(closed).isCompletedExceptionally();
    stuck.countDown();
    opening.join();
    assertThat(late.health().state()).isEqualTo(StoreHealth.State.OFF);
    assertThat(logged.lines()).hasSize(fails ? 2 : 1).first().asString()
        .startsWith("store late is left while it is opened");
    assertThat(logged.lines().getLast())
        .contains(fails ? "was left while it was opened, and could not be: could not open" : "does not answer");
    logged.close();
    broken = false;
    journal().close().block(SOON);
  }

  /// A pipe in place of the file `format` keeps its reader waiting, as a frozen disk does.
  @Test
  void openingOnADiskThatDoesNotAnswer_isWaitedForNoLongerThanAsked_saysSo_andEndsWhenTheDiskAnswers(
      @TempDir Path folder) throws Exception {
    Path format = folder.resolve("format");
    assumeTrue(new ProcessBuilder("mkfifo", format.toString()).start().waitFor() == 0, "no mkfifo here");
    JournalOptions own = JournalOptions.defaults(folder).withEngine(EngineKind.PLAIN)
        .withHealth(HealthOptions.defaults().withStallAfter(Duration.ofSeconds(2))); // a write is to be quicker
    try (LoggedLines logged = new LoggedLines(LateJournal.class, folder.toString())) {
      CountDownLatch changed = new CountDownLatch(1);
      LateJournal late = LateJournal.openWithin(Duration.ofMillis(10), SPACE, own, journal -> {});
      assertThat(late.isOpening()).isTrue();
      assertThat(late.health()).isEqualTo(new StoreHealth(StoreHealth.State.OFF, "disk level is opening"));
      TierStack stack = stack(late);
      late.watch(changed::countDown); // after the stack's own watcher, which hears of a change first
      assertThat(put(stack, 3)).as("in memory").isEqualTo(Durability.VOLATILE);
      Eventually.holds("the journal has logged", () -> !logged.lines().isEmpty());
      assertThat(logged.lines().getFirst()).startsWith("store ssd has been opening " + folder + " for 2 s");

      Files.writeString(format, "penstock journal, format 2, engine plain\n"); // the disk answers
      assertThat(changed.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
      assertThat(late.health()).isEqualTo(StoreHealth.GOOD);
      assertThat(put(stack, 4)).isEqualTo(Durability.WRITTEN);
      stack.close().block(SOON);
    }
  }

  @Test
  void closeDuringAnOpening_endsInItsTime_andTheOpeningNeedsNoMore(@TempDir Path folder) throws Exception {
    Path format = folder.resolve("format");
    assumeTrue(new ProcessBuilder("mkfifo", format.toString()).start().waitFor() == 0, "no mkfifo here");
    Duration little = Duration.ofMillis(10);
    JournalOptions own = JournalOptions.defaults(folder).withEngine(EngineKind.PLAIN)
        .withHealth(new HealthOptions(little, little, little, little));
    LateJournal late = LateJournal.openWithin(little, SPACE, own, journal -> {});
    assertThatThrownBy(() -> late.close().block(SOON)).hasMessageContaining("does not answer");
    Files.writeString(format, "penstock journal, format 2, engine plain\n");
    Eventually.holds("the journal has opened", () -> !late.isOpening());
    assertThatThrownBy(() -> late.put(List.of()).block(SOON)).hasMessageContaining("closed");
  }

  @Test
  void directoryThatCannotBeOne_isAnErrorAtOnce(@TempDir Path folder) throws IOException {
    Path file = Files.createFile(folder.resolve("file"));
    JournalOptions wrong = JournalOptions.defaults(file.resolve("below")).withEngine(EngineKind.PLAIN);
    assertThatThrownBy(() -> LateJournal.open(SPACE, wrong, journal -> {})).isInstanceOf(StorageFailedException.class);
    assertThat(LateJournal.isOfTheDisk(new StorageFailedException("open", new AccessDeniedException("no")), folder))
        .isFalse();
    assertThat(
        LateJournal.isOfTheDisk(new StorageFailedException("open", new IOException("Input/output error")), folder))
        .isTrue();
  }

  private static String present(TierStack stack) {
    List<BlockKey> keys = Blocks.keys(SPACE, 0, 4);
    var presence = requireNonNull(stack.contains(keys).block(SOON));
    StringBuilder digits = new StringBuilder();
    for (int i = 0; i < keys.size(); i++) {
      digits.append(presence.get(i) ? 1 : 0);
    }
    return digits.toString();
  }

  private static Durability put(TierStack stack, int number) {
    try (BlockScope scope = new BlockScope()) {
      Reservation reservation = requireNonNull(stack.reserve(List.of(Blocks.key(SPACE, number)), scope).block(SOON));
      reservation.drafts().forEach(Blocks::produce);
      return requireNonNull(reservation.commit(reservation.drafts()).block(SOON)).getFirst().durability();
    }
  }
}
