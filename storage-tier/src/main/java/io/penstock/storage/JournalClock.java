package io.penstock.storage;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import reactor.core.scheduler.Scheduler;

/// What time it is for a journal, and who calls it later. Tasks wait for the disk. They are never cancelled: that might
/// interrupt them.
interface JournalClock {
  /// Milliseconds since some moment; never backwards.
  long millis();

  /// Runs `task` on a thread of the clock, after `millis` at the earliest.
  void after(long millis, Runnable task);

  /// Whether it goes at all.
  boolean runs();

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

      @Override
      public boolean runs() {
        return true;
      }
    };
  }

  /// After its executor's end tasks are forgotten.
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

      @Override
      public boolean runs() {
        return true;
      }
    };
  }

  /// It is always the same time, and later never comes.
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
