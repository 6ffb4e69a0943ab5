package io.penstock.storage;

import io.penstock.storage.disk.JournalClock;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/// The threads of one journal. Nothing interrupts them: an interrupt closes the file that the thread reads.
///
/// @param appending runs one task at a time, in order
/// @param reading runs tasks that wait for the disk
/// @param clock calls for syncs and other later work, on a thread that may wait for the disk
/// @param ticks calls on a thread that waits for nothing
/// @param stopping ends the threads when they are idle
record JournalThreads(Executor appending, Executor reading, JournalClock clock, JournalClock ticks, Runnable stopping) {
  /// Threads for `options`: one appends, one syncs, one looks at the clock, and `ioThreads` read.
  static JournalThreads own(JournalOptions options) {
    ThreadPoolExecutor appending =
        pool(options.name() + "-append", 1, options.bounds().maxWaitingPuts() + JournalWrites.OWN_TASKS);
    // And a step of the scrubber, and one of [DamageCopies]
    ThreadPoolExecutor reading =
        pool(options.name() + "-read", options.bounds().ioThreads(),
            options.bounds().maxWaitingReads() * ReadJob.MOST_PARTS + 3);
    ScheduledThreadPoolExecutor syncing = timed(options.name() + "-sync", 1);
    ScheduledThreadPoolExecutor watching = timed(options.name() + "-watch", 1);
    return new JournalThreads(appending, reading, JournalClock.of(syncing), JournalClock.of(watching), () -> {
      appending.shutdown();
      reading.shutdown();
      syncing.shutdown();
      watching.shutdown();
    });
  }

  /// A clock. At its end it drops waiting tasks: none of them matters then.
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

  /// After the end no task matters. Before it the queue takes all accepted work.
  private static void refused(Runnable task, ThreadPoolExecutor pool) {
    if (!pool.isShutdown()) {
      throw new RejectedExecutionException("queue of a journal's threads is full although the work was "
          + "accepted");
    }
  }
}
