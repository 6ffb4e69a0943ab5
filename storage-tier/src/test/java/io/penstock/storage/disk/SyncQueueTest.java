package io.penstock.storage.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.storage.FaultyEngine;
import io.penstock.storage.WrappedEngine;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.MemoryDisk;
import io.penstock.storage.engine.MemoryEngine;
import io.penstock.testkit.Eventually;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class SyncQueueTest {
  private final CountDownLatch runs = new CountDownLatch(1);
  private final CountDownLatch mayEnd = new CountDownLatch(1);
  private final AtomicInteger forced = new AtomicInteger();

  /// One whose first sync ends when the test says so.
  private final class Slow extends WrappedEngine {
    Slow() {
      super(MemoryEngine.open(new MemoryDisk(), EngineOptions.defaults()));
    }

    @Override
    public void sync() {
      forced.incrementAndGet();
      runs.countDown();
      try {
        assertThat(mayEnd.await(30, TimeUnit.SECONDS)).isTrue();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  @Test
  void whoWaitsForRoom_waitsForTheSyncThatRuns_andForNoneAfterIt() throws InterruptedException {
    SyncQueue line =
        new SyncQueue(new Slow(), SyncRule.interval(Duration.ofSeconds(1), 1000), JournalClock.stopped(), () -> {});
    line.start();
    line.appended(600);
    Thread syncing = Thread.ofPlatform().start(line::sync);
    runs.await();
    line.appended(300);
    Thread appending = Thread.ofPlatform().start(() -> line.admit(200));
    Eventually.holds("the append is blocked", () -> appending.getState() == Thread.State.BLOCKED);
    mayEnd.countDown();
    appending.join();
    syncing.join();
    assertThat(forced).hasValue(1);
    assertThat(line.stat().unsyncedBytes()).isEqualTo(300);
    line.admit(701);
    assertThat(forced).as("that is too much").hasValue(2);
  }

  @Test
  void syncThatEndsInAnError_losesWhatItCovered_andSaysSo() {
    FaultyEngine disk = new FaultyEngine(MemoryEngine.open(new MemoryDisk(), EngineOptions.defaults()));
    SyncQueue line =
        new SyncQueue(disk, SyncRule.interval(Duration.ofSeconds(1), 1000), JournalClock.stopped(), () -> {});
    line.start();
    line.appended(600);
    disk.err(FaultyEngine.Work.SYNC);
    assertThatThrownBy(line::sync).isInstanceOf(InternalError.class);
    assertThat(line.isLost(0, 600)).isTrue();
    SyncStat stat = line.stat();
    assertThat(stat).isEqualTo(new SyncStat(600, 0, 0, 1, 600, stat.failure()));
    assertThat(stat.failure()).isInstanceOf(StorageFailedException.class).hasMessageContaining("InternalError");
    disk.mend();
    assertThat(line.close()).as("though the next one succeeds").isSameAs(stat.failure());
    assertThat(line.stat().syncs()).isEqualTo(1);
  }

  @Test
  void syncThatFails_losesWhatItCovered_alsoIfTheSegmentCannotBeEnded() {
    FaultyEngine disk = new FaultyEngine(MemoryEngine.open(new MemoryDisk(), EngineOptions.defaults()));
    SyncQueue line =
        new SyncQueue(disk, SyncRule.interval(Duration.ofSeconds(1), 1000), JournalClock.stopped(), () -> {});
    line.start();
    line.appended(600);
    disk.fail(FaultyEngine.Fault.IO_ERROR, FaultyEngine.Work.SYNC);
    disk.err(FaultyEngine.Work.ROLL);
    assertThatThrownBy(line::sync).isInstanceOf(InternalError.class);
    assertThat(line.isLost(0, 600)).isTrue();
    disk.mend();
    assertThat(line.close()).isInstanceOf(StorageFailedException.class);
  }

  @Test
  void syncThatEndsInAnErrorInItsTime_isTriedAgainAnIntervalLater() {
    FaultyEngine disk = new FaultyEngine(MemoryEngine.open(new MemoryDisk(), EngineOptions.defaults()));
    HandClock clock = new HandClock();
    SyncQueue line = new SyncQueue(disk, SyncRule.interval(Duration.ofSeconds(1), 1000), clock, () -> {});
    line.start();
    line.appended(300);
    disk.err(FaultyEngine.Work.SYNC);
    assertThatThrownBy(clock::next).isInstanceOf(InternalError.class);
    disk.mend();
    clock.next();
    assertThat(line.stat().syncs()).isEqualTo(1);
    assertThat(clock.tasks).as("nothing is left to be forced").isEmpty();
  }

  /// Goes on to the next task when the test says so.
  private static final class HandClock implements JournalClock {
    private record Task(long at, Runnable work) {}

    private final Queue<Task> tasks = new ArrayDeque<>();
    private long now;

    void next() {
      Task task = tasks.remove();
      now = task.at;
      task.work.run();
    }

    @Override
    public long millis() {
      return now;
    }

    @Override
    public void after(long millis, Runnable task) {
      tasks.add(new Task(now + millis, task));
    }

    @Override
    public boolean runs() {
      return true;
    }
  }
}
