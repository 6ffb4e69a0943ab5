package io.penstock.stack.decision;

import io.penstock.block.Owned;
import io.penstock.check.Uncaught;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Work that one decision leaves: blocks to review before the lock is released, and actions to run after that, in this
/// order: handles are closed, tasks run, readers are signalled, recorded events are emitted, the listener gets its
/// reports, and callers that wait for the end of moves are signalled.
///
/// A method that takes this object runs inside a decision: only [Decisions] makes it. All actions run, even if an
/// action throws, because most actions serve other callers. The thread's uncaught exception handler gets the error.
public final class DeferredActions {
  // Each is made when it is needed: most decisions leave little work
  private @Nullable LinkedHashSet<Resident> changed;
  private @Nullable List<Owned> handles;
  private @Nullable List<Runnable> tasks;
  private @Nullable Set<Reader> readers;
  private @Nullable List<Runnable> reports;

  /// A reader that waits for blocks.
  public interface Reader {
    /// Signals that an item is ready, or that no more items will come. Outside the lock.
    void signal();
  }

  /// Lets the end of the decision review `block`.
  public void review(Resident block) {
    if (changed == null) {
      changed = new LinkedHashSet<>();
    }
    changed.add(block);
  }

  /// The next block to review; null if there is none.
  @Nullable Resident nextReview() {
    return changed == null || changed.isEmpty() ? null : changed.removeFirst();
  }

  /// Closes `handle` after the decision, before all other actions.
  public void close(Owned handle) {
    if (handles == null) {
      handles = new ArrayList<>();
    }
    handles.add(handle);
  }

  /// Runs `task` after the decision: when handles were closed, before readers are signalled.
  public void then(Runnable task) {
    if (tasks == null) {
      tasks = new ArrayList<>();
    }
    tasks.add(task);
  }

  /// Signals `reader` once, after the tasks.
  public void signal(Reader reader) {
    if (readers == null) {
      readers = new LinkedHashSet<>();
    }
    readers.add(reader);
  }

  /// Runs `report`, which calls a listener, after the recorded events were emitted.
  public void report(Runnable report) {
    if (reports == null) {
      reports = new ArrayList<>();
    }
    reports.add(report);
  }

  /// Runs all actions. Outside the lock.
  void run(Decisions.Rules rules) {
    if (handles != null) {
      handles.forEach(handle -> attempt(handle::close));
    }
    if (tasks != null) {
      tasks.forEach(DeferredActions::attempt);
    }
    if (readers != null) {
      readers.forEach(reader -> attempt(reader::signal));
    }
    attempt(rules::emit);
    if (reports != null) {
      reports.forEach(DeferredActions::attempt);
    }
    rules.signal();
  }

  /// Runs `task`. The thread's uncaught exception handler gets its error.
  public static void attempt(Runnable task) {
    try {
      task.run();
    } catch (Throwable e) { // the other actions run all the same
      Uncaught.report(e);
    }
  }
}
