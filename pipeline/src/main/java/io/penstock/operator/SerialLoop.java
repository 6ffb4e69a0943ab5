package io.penstock.operator;

import io.penstock.check.Uncaught;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/// Runs one task whenever it is asked to, one run at a time. [Serial] and the streams with demand of their own are
/// built on it. No other class drains, except the grants of `Permits`, which says why.
///
/// | | |
/// |---|---|
/// | thread | the one that asks while no run is under way; it also runs the task for the threads that ask meanwhile |
/// | bound | no queue: one more run answers all requests that came during a run, so a task does all open work |
/// | wake-ups | a run begins after every call of [#run], and sees what the caller wrote before |
/// | nesting | a task may ask: the next run begins when this run has ended. The stack does not grow |
/// | exceptions | an exception or `Error` of a run goes to `failed`, never to the caller; later runs still happen |
/// | | an exception of `failed` goes to [Uncaught] |
public final class SerialLoop {
  private final Runnable task;
  private final Consumer<? super Throwable> failed;
  /// Requests without an answer. 0 while no thread is inside.
  private final AtomicInteger asked = new AtomicInteger();

  /// A loop that reports exceptions to [Uncaught].
  public SerialLoop(Runnable task) {
    this(task, Uncaught::report);
  }

  public SerialLoop(Runnable task, Consumer<? super Throwable> failed) {
    this.task = task;
    this.failed = failed;
  }

  /// Asks for a run: on this thread, or, if a run is under way, on the thread of that run.
  public void run() {
    if (asked.getAndIncrement() == 0) {
      attempt(task);
      leave();
    }
  }

  /// Enters the loop without a run, if no thread is inside. The caller has to [#leave].
  boolean tryEnter() {
    return asked.compareAndSet(0, 1);
  }

  /// Leaves the loop after one request is answered, unless more requests have come: then runs the task for them first.
  void leave() {
    for (int left = asked.decrementAndGet(); left != 0; left = asked.addAndGet(-left)) {
      attempt(task);
    }
  }

  /// Runs `step` inside the loop.
  void attempt(Runnable step) {
    try {
      step.run();
    } catch (Throwable e) {
      fail(e);
    }
  }

  private void fail(Throwable thrown) {
    Throwable error = Failures.passable(thrown);
    try {
      failed.accept(error);
    } catch (Throwable another) {
      if (!another.equals(error)) {
        error.addSuppressed(another);
      }
      Uncaught.report(error);
    }
  }
}
