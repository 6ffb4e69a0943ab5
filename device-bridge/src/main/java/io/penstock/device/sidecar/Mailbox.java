package io.penstock.device.sidecar;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/// Runs events one at a time, in the order they came, on the thread of whoever finds nobody at it. Nobody waits, and no
/// lock is held meanwhile. As long as what is in flight: each event is the end of something that was counted.
final class Mailbox {
  private final ConcurrentLinkedQueue<Runnable> events = new ConcurrentLinkedQueue<>();
  private final AtomicInteger waiting = new AtomicInteger();

  void run(Runnable event) {
    events.add(event);
    if (waiting.getAndIncrement() > 0) {
      return;
    }
    do {
      runQuietly(requireNonNull(events.poll()));
    } while (waiting.decrementAndGet() > 0);
  }

  private static void runQuietly(Runnable event) {
    try {
      event.run();
    } catch (Throwable e) { // the line goes on for the others
      Thread thread = Thread.currentThread();
      thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
    }
  }
}
