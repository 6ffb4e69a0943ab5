package io.penstock.tier;

import io.penstock.block.Owned;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/// What a critical section of a [TierStack] leaves to be done outside its lock: memory to free, copies to start,
/// readers to tell.
///
/// All of it is done, whatever throws: most of it is for others than the caller. The thread's uncaught exception
/// handler hears of it, never the innocent whose call made the decision.
final class Aftermath {
  private final EventLog events;
  private final List<Settling> settling;
  private final List<Owned> handles = new ArrayList<>(0);
  private final List<Runnable> tasks = new ArrayList<>(0);
  private final Set<StackLease> told = new LinkedHashSet<>(0);
  private final List<Runnable> reports = new ArrayList<>(1);

  Aftermath(EventLog events, List<Settling> settling) {
    this.events = events;
    this.settling = settling;
  }

  /// Tells a listener, after all others.
  void hear(Runnable report) {
    reports.add(report);
  }

  void close(Owned handle) {
    handles.add(handle);
  }

  /// Runs `task` after memory was freed and before readers are told.
  void then(Runnable task) {
    tasks.add(task);
  }

  void signal(StackLease lease) {
    told.add(lease);
  }

  void run() {
    for (Owned handle : handles) {
      attempt(handle::close);
    }
    tasks.forEach(Aftermath::attempt);
    for (StackLease lease : told) {
      attempt(lease::signal);
    }
    attempt(events::signal);
    reports.forEach(Aftermath::attempt);
    settling.forEach(each -> attempt(each::signal));
  }

  private static void attempt(Runnable task) {
    try {
      task.run();
    } catch (Throwable e) { // the others get theirs all the same
      Thread thread = Thread.currentThread();
      thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
    }
  }
}
