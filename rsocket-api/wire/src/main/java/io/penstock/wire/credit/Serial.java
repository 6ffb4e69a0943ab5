package io.penstock.wire.credit;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/// Runs the steps of one stream one after another, whichever threads they come from, on whichever of them is first; a
/// step that causes another does not nest. The queue holds at most what credit and outstanding calls let in.
///
/// A step that throws fails its stream and nothing else: neither the steps behind it nor the thread that happened to
/// run it.
public final class Serial {
  private final Queue<Runnable> steps = new ConcurrentLinkedQueue<>();
  private final AtomicInteger wip = new AtomicInteger();
  private final Consumer<? super Throwable> failed;

  /// @param failed ends the stream with what a step threw; runs as part of that step
  public Serial(Consumer<? super Throwable> failed) {
    this.failed = failed;
  }

  public void run(Runnable step) {
    if (wip.compareAndSet(0, 1)) { // as a rule: no step runs, none waits
      attempt(step);
    } else {
      steps.add(step);
      if (wip.getAndIncrement() != 0) {
        return;
      }
      runNext();
    }
    while (wip.decrementAndGet() != 0) {
      runNext();
    }
  }

  private void runNext() {
    Runnable next = steps.poll();
    if (next != null) {
      attempt(next);
    }
  }

  private void attempt(Runnable step) {
    try {
      step.run();
    } catch (Throwable e) {
      fail(e);
    }
  }

  private void fail(Throwable error) {
    try {
      failed.accept(error);
    } catch (Throwable another) {
      error.addSuppressed(another);
      Operators.onErrorDropped(error, Context.empty());
    }
  }
}
