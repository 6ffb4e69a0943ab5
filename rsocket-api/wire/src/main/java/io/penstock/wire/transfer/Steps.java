package io.penstock.wire.transfer;

import io.penstock.operator.Trampoline;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/// Runs steps one after another, whichever threads they come from; a step that causes another does not nest.
final class Steps {
  private final Queue<Runnable> steps = new ConcurrentLinkedQueue<>();
  private final Trampoline turn = new Trampoline(this::next);

  void run(Runnable step) {
    steps.add(step);
    turn.run();
  }

  private void next() {
    Runnable step = steps.poll();
    if (step != null) {
      step.run();
    }
  }
}
