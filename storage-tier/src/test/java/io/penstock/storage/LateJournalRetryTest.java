package io.penstock.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.CacheSpace;
import io.penstock.storage.disk.JournalClock;
import io.penstock.storage.disk.SyncRule;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.MemoryDisk;
import io.penstock.storage.engine.MemoryEngine;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.testkit.Blocks;
import io.penstock.tier.StoreHealth;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Exceptions;
import reactor.test.scheduler.VirtualTimeScheduler;

/// Openings that come to nothing.
@Timeout(60)
final class LateJournalRetryTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final Duration SOON = Duration.ofSeconds(5);
  private static final StorageFailedException READ_ONLY =
      new StorageFailedException("open", new IOException("Read-only file system"));

  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private final MemoryDisk disk = new MemoryDisk();
  private final JournalOptions options =
      JournalOptions.defaults(Path.of("unused")).withName("retried").withSegmentBytes(1 << 20)
          .withDurability(SyncRule.none());

  private SegmentEngine engine() {
    return MemoryEngine.open(disk, new EngineOptions(1 << 20, 0));
  }

  private JournalStore journal() {
    return journal(engine(), new SerialExecutor());
  }

  private JournalStore journal(SegmentEngine engine, Executor appending) {
    return JournalStore.open(SPACE, options, engine, appending, Runnable::run, time);
  }

  private LateJournal late(Supplier<JournalStore> opening, Runnable stopping, Consumer<JournalStore> begun) {
    AtomicBoolean isFirst = new AtomicBoolean(true);
    LateJournal late = new LateJournal(SPACE, options, () -> {
      if (isFirst.getAndSet(false)) {
        throw READ_ONLY;
      }
      return opening.get();
    }, begun, JournalClock.of(time), stopping);
    late.begin();
    time.advanceTime();
    return late;
  }

  /// What it opens first cannot be taken.
  private LateJournal opening(Supplier<JournalStore> opening, Runnable stopping, AtomicInteger takes) {
    return late(opening, stopping, store -> {
      if (takes.incrementAndGet() == 1) {
        throw new InternalError("no thread");
      }
    });
  }

  @Test
  void whateverAnOpeningThrows_isTold_loggedOnce_andItIsTriedAgain() {
    List<Throwable> errors = new ArrayList<>(
        List.of(new InternalError("a page is gone"), new NullPointerException(), new NullPointerException()));
    AtomicInteger told = new AtomicInteger();
    LateJournal opening = late(() -> {
      if (!errors.isEmpty()) {
        throw Exceptions.propagate(errors.removeFirst());
      }
      return journal();
    }, () -> {}, store -> {});
    try (LoggedLines logged = new LoggedLines(LateJournal.class, "store " + options.name())) {
      opening.watch(told::incrementAndGet);
      time.advanceTimeBy(Duration.ofMillis(100));
      assertThat(opening.health())
          .isEqualTo(new StoreHealth(StoreHealth.State.OFF, "java.lang.InternalError: a page is gone"));
      time.advanceTimeBy(Duration.ofMillis(200));
      assertThat(opening.health().problem()).isEqualTo("java.lang.NullPointerException");
      time.advanceTimeBy(Duration.ofMillis(400));
      assertThat(errors).isEmpty();
      assertThat(logged.lines()).hasSize(2)
          .allMatch(line -> line.startsWith("store retried could not be opened, and is tried again"));
    }
    time.advanceTimeBy(Duration.ofSeconds(5));
    assertThat(told).hasValue(1);
    opening.close().block(SOON);
  }

  @Test
  void storeThatCannotBeTaken_isClosed_andOpenedAgain() {
    AtomicInteger takes = new AtomicInteger();
    AtomicInteger told = new AtomicInteger();
    LateJournal opening = opening(this::journal, () -> {}, takes);
    opening.watch(told::incrementAndGet);
    time.advanceTimeBy(Duration.ofMillis(100));
    assertThat(opening.health().problem()).isEqualTo("java.lang.InternalError: no thread");
    assertThat(told).hasValue(0);
    time.advanceTimeBy(Duration.ofSeconds(5));
    assertThat(takes).hasValue(2);
    assertThat(told).hasValue(1);
    opening.close().block(SOON);
    journal().close().block(SOON); // the disk is free
  }

  /// It has the lock on the directory until then.
  @Test
  void closedWhileAStoreThatCannotBeTakenIsClosed_endsWhenThatIs() {
    List<Runnable> tasks = new ArrayList<>();
    AtomicInteger takes = new AtomicInteger();
    AtomicInteger stops = new AtomicInteger();
    LateJournal opening = opening(() -> journal(engine(), tasks::add), stops::incrementAndGet, takes);
    time.advanceTimeBy(Duration.ofMillis(100));
    assertThat(takes).hasValue(1);
    CompletableFuture<Void> closed = opening.close().toFuture();
    assertThat(closed).isNotDone();
    assertThat(stops).hasValue(0);
    for (int i = 0; i < tasks.size(); i++) {
      tasks.get(i).run();
    }
    assertThat(closed).isCompleted();
    assertThat(stops).hasValue(1);
    time.advanceTimeBy(Duration.ofMinutes(1));
    assertThat(takes).hasValue(1);
    journal().close().block(SOON); // the disk is free
  }

  @Test
  void storeThatCannotBeTaken_isNotOpenedAgain_beforeItIsClosed() {
    List<Runnable> tasks = new ArrayList<>();
    AtomicInteger takes = new AtomicInteger();
    LateJournal opening = opening(() -> journal(engine(), tasks::add), () -> {}, takes);
    time.advanceTimeBy(Duration.ofMillis(100));
    time.advanceTimeBy(Duration.ofSeconds(1));
    assertThat(opening.health().problem()).isEqualTo("java.lang.InternalError: no thread");
    for (int i = 0; i < tasks.size(); i++) {
      tasks.get(i).run();
    }
    time.advanceTimeBy(Duration.ofMillis(200));
    assertThat(takes).hasValue(2);
  }

  @Test
  void storeThatCannotBeTaken_andDoesNotClose_isLogged() {
    FaultyEngine faulty = new FaultyEngine(engine());
    faulty.fail(FaultyEngine.Fault.IO_ERROR, FaultyEngine.Work.CLOSE);
    try (LoggedLines logged = new LoggedLines(LateJournal.class, "store " + options.name())) {
      opening(() -> journal(faulty, new SerialExecutor()), () -> {}, new AtomicInteger());
      time.advanceTimeBy(Duration.ofMillis(100));
      assertThat(logged.lines()).hasSize(2).last().asString()
          .startsWith("store retried was opened, and did not close: ")
          .contains("could not CLOSE", "Input/output error");
    }
  }
}
