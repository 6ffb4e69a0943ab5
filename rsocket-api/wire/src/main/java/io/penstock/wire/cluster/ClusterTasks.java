package io.penstock.wire.cluster;

import io.penstock.tier.TierHolds.KeyFilter;
import java.util.List;

/// The tasks of one member. Safe from any thread; nothing waits.
public interface ClusterTasks {
  /// Starts a task.
  ///
  /// @param which blocks that the pattern of the order means
  /// @throws IllegalStateException if a task that excludes it runs, or the order names no other member that is there
  ClusterTask start(TaskOrder order, KeyFilter which);

  /// Tasks that run, and the last that have ended, the oldest first.
  List<ClusterTask> tasks();

  /// Ends a task; what it has done stays. False if it does not run.
  boolean cancel(String id);
}
