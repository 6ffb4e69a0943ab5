package io.penstock.storage.disk;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import reactor.core.scheduler.Scheduler;

/// The time of a journal, and later calls. Tasks wait for the disk. Nothing cancels them: a cancel might interrupt
/// them.
public interface JournalClock {
  /// Milliseconds since some moment; never smaller than before.
  long millis();

  /// Runs `task` on a thread of the clock after at least `millis`.
  void after(long millis, Runnable task);

  /// False if the clock stands still.
  default boolean runs() {
    return true;
  }

  static JournalClock of(Scheduler scheduler) {
    return new JournalClock() {
      @Override
      public long millis() {
        return scheduler.now(TimeUnit.MILLISECONDS);
      }

      @Override
      public void after(long millis, Runnable task) {
        scheduler.schedule(task, millis, TimeUnit.MILLISECONDS);
      }
    };
  }

  /// A clock that drops tasks when `executor` has ended.
  static JournalClock of(ScheduledExecutorService executor) {
    return new JournalClock() {
      @Override
      public long millis() {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
      }

      @Override
      @SuppressWarnings("FutureReturnValueIgnored") // tasks report their failures themselves
      public void after(long millis, Runnable task) {
        executor.schedule(task, millis, TimeUnit.MILLISECONDS);
      }
    };
  }

  /// A clock that stands still: it runs no task.
  static JournalClock stopped() {
    return new JournalClock() {
      @Override
      public long millis() {
        return 0;
      }

      @Override
      public void after(long millis, Runnable task) {
        // never
      }

      @Override
      public boolean runs() {
        return false;
      }
    };
  }
}
