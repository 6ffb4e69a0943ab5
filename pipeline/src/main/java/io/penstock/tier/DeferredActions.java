package io.penstock.tier;

import io.penstock.block.Owned;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Work that one decision on a [StackState] leaves: blocks to review before the lock is released, and actions to run
/// after that (free memory, start copies, tell readers).
///
/// A method that takes this object runs inside a decision: only [StackState#decide] makes it. All actions run, even if
/// an action throws, because most actions serve other callers. The thread's uncaught exception handler gets the error.
final class DeferredActions {
  private final LinkedHashSet<Resident> changed = new LinkedHashSet<>(0);
  private final List<Owned> handles = new ArrayList<>(0);
  private final List<Runnable> tasks = new ArrayList<>(0);
  private final Set<StackLease> leases = new LinkedHashSet<>(0);
  private final List<Runnable> reports = new ArrayList<>(1);

  /// Has the [Mover] review `block` at the end of the decision.
  void review(Resident block) {
    changed.add(block);
  }

  /// The next block to review; null if there is none.
  @Nullable Resident nextReview() {
    return changed.isEmpty() ? null : changed.removeFirst();
  }

  /// Closes `handle` after the decision, before all other actions.
  void close(Owned handle) {
    handles.add(handle);
  }

  /// Runs `task` after the decision: when handles were closed, before readers are told.
  void then(Runnable task) {
    tasks.add(task);
  }

  /// Tells the reader of `lease`, after the tasks, that an item is ready or that no more items will come.
  void signal(StackLease lease) {
    leases.add(lease);
  }

  /// Runs `report`, which tells a listener, after everything else.
  void report(Runnable report) {
    reports.add(report);
  }

  /// Runs everything outside the lock.
  void run(EventLog events, List<Flush> flushes) {
    handles.forEach(handle -> attempt(handle::close));
    tasks.forEach(DeferredActions::attempt);
    leases.forEach(lease -> attempt(lease::signal));
    attempt(events::signal);
    reports.forEach(DeferredActions::attempt);
    flushes.forEach(flush -> attempt(flush::signal));
  }

  private static void attempt(Runnable task) {
    try {
      task.run();
    } catch (Throwable e) { // the other actions run all the same
      Thread thread = Thread.currentThread();
      thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
    }
  }
}
