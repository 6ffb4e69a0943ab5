package io.penstock.device.sidecar.link;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/// Runs events one at a time, in order of arrival, on the thread that brings an event to an idle mailbox. No thread
/// waits and no lock is held. Its length is bounded by the work in flight: each event is the end of counted work.
public final class Mailbox {
  private final ConcurrentLinkedQueue<Runnable> events = new ConcurrentLinkedQueue<>();
  private final AtomicInteger waiting = new AtomicInteger();

  public void run(Runnable event) {
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
    } catch (Throwable e) { // later events must still run
      Thread thread = Thread.currentThread();
      thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
    }
  }
}
