package io.penstock.tier;

import io.penstock.block.Owned;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// What one decision on a [StackState] leaves to be done: blocks to review before the lock is released, and actions
/// that must not run under the lock (memory to free, copies to start, readers to tell).
///
/// Holding this object proves that a decision is under way: only [StackState#decide] makes it. All actions run, even if
/// one throws, because most of them are for other callers; the thread's uncaught exception handler gets the error.
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

  /// Frees memory. Runs first.
  void close(Owned handle) {
    handles.add(handle);
  }

  /// Runs `task` after memory was freed and before readers are told.
  void then(Runnable task) {
    tasks.add(task);
  }

  /// Tells the reader of `lease` that something is ready for it, or that nothing more will be.
  void signal(StackLease lease) {
    leases.add(lease);
  }

  /// Tells a listener, after everything else.
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
