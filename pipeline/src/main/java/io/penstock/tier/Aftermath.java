package io.penstock.tier;

import io.penstock.block.Owned;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/// What a critical section of a [TierStack] leaves to be done outside its lock: memory to free, copies to start, readers to tell.
final class Aftermath {
  private final EventLog events;
  private final List<Owned> handles = new ArrayList<>(0);
  private final List<Runnable> tasks = new ArrayList<>(0);
  private final Set<StackLease> told = new LinkedHashSet<>(0);
  private final List<Runnable> reports = new ArrayList<>(1);

  Aftermath(EventLog events) {
    this.events = events;
  }

  /// Tells a listener, last of all.
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

  /// Whoever waits is told even if memory cannot be given back, or the listener fails.
  void run() {
    try {
      handles.forEach(Owned::close);
      tasks.forEach(Runnable::run);
    } finally {
      told.forEach(StackLease::signal);
      events.signal();
    }
    reports.forEach(Runnable::run);
  }
}
