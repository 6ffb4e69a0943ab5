package io.penstock.storage;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/// The threads of one journal. They are never interrupted: an interrupt closes the file that a thread is just reading.
///
/// @param appending runs one task at a time, in order
/// @param reading runs tasks that wait for the disk
/// @param clock calls for syncs, and whatever else is not at once; its thread waits for the disk
/// @param ticks calls for what waits for nothing
/// @param stopping ends all once they have nothing to do
record JournalThreads(Executor appending, Executor reading, JournalClock clock, JournalClock ticks, Runnable stopping) {
  /// Threads of its own: one that appends, one that syncs, one that looks at the clock, and as many as `options` say
  /// that read.
  static JournalThreads own(JournalOptions options) {
    ThreadPoolExecutor appending =
        pool(options.name() + "-append", 1, options.maxWaitingPuts() + JournalWrites.OWN_TASKS);
    // And a step of a scrubber, of [SettingAside] and of [ReadDamage]
    ThreadPoolExecutor reading =
        pool(options.name() + "-read", options.ioThreads(), options.maxWaitingReads() * ReadJob.MOST_PARTS + 3);
    ScheduledThreadPoolExecutor syncing = timed(options.name() + "-sync", 1);
    ScheduledThreadPoolExecutor watching = timed(options.name() + "-watch", 1);
    return new JournalThreads(appending, reading, JournalClock.of(syncing), JournalClock.of(watching), () -> {
      appending.shutdown();
      reading.shutdown();
      syncing.shutdown();
      watching.shutdown();
    });
  }

  /// What waits here is one task each of those that need a clock. None of them matters after the end.
  static ScheduledThreadPoolExecutor timed(String name, int threads) {
    ScheduledThreadPoolExecutor pool = new ScheduledThreadPoolExecutor(threads,
        task -> Thread.ofPlatform().daemon().name("penstock-" + name).unstarted(task), JournalThreads::refused);
    pool.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    return pool;
  }

  private static ThreadPoolExecutor pool(String name, int threads, int queue) {
    AtomicInteger number = new AtomicInteger();
    return new ThreadPoolExecutor(threads, threads, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(queue),
        task -> Thread.ofPlatform().daemon().name("penstock-" + name + "-" + number.incrementAndGet()).unstarted(task),
        JournalThreads::refused);
  }

  /// After the end there is nothing left to do that matters; before it, the queue is longer than all that is accepted.
  private static void refused(Runnable task, ThreadPoolExecutor pool) {
    if (!pool.isShutdown()) {
      throw new RejectedExecutionException("queue of a journal's threads must take what was accepted (was full)");
    }
  }
}
