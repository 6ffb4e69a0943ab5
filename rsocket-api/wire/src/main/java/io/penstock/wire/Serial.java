package io.penstock.wire;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/// Runs the steps of one stream one after another, whichever threads they come from, on whichever of them is first; a step that
/// causes another does not nest. The queue holds at most what credit and outstanding calls let in.
final class Serial {
  private final Queue<Runnable> steps = new ConcurrentLinkedQueue<>();
  private final AtomicInteger wip = new AtomicInteger();

  void run(Runnable step) {
    steps.add(step);
    if (wip.getAndIncrement() != 0) {
      return;
    }
    do {
      Runnable next = steps.poll();
      if (next != null) {
        next.run();
      }
    } while (wip.decrementAndGet() != 0);
  }
}
