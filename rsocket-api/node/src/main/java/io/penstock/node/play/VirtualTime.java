package io.penstock.node.play;

import java.util.Comparator;
import java.util.PriorityQueue;

/// A clock that jumps from one action to the next. One thread.
final class VirtualTime {
  private final PriorityQueue<Action> due =
      new PriorityQueue<>(Comparator.comparingLong(Action::nanos).thenComparingLong(Action::order));
  private long now;
  private long actions;

  private record Action(long nanos, long order, Runnable run) {}

  long now() {
    return now;
  }

  /// Runs `action` after `nanos`, behind those that are due at the same time.
  void after(long nanos, Runnable action) {
    due.add(new Action(now + Math.max(0, nanos), actions++, action));
  }

  /// Runs what is due up to `nanos`, which is the time then.
  void advanceTo(long nanos) {
    for (Action next = due.peek(); next != null && next.nanos() <= nanos; next = due.peek()) {
      due.remove();
      now = Math.max(now, next.nanos());
      next.run().run();
    }
    now = Math.max(now, nanos);
  }

  /// Runs all that is due, however late.
  void finish() {
    for (Action next = due.peek(); next != null; next = due.peek()) {
      advanceTo(next.nanos());
    }
  }
}
