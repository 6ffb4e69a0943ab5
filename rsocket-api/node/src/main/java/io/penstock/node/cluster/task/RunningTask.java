package io.penstock.node.cluster.task;

import io.penstock.wire.cluster.ClusterTask;
import io.penstock.wire.cluster.ClusterTask.State;
import io.penstock.wire.cluster.TaskOrder;
import java.util.concurrent.atomic.AtomicReference;
import reactor.core.Disposable;
import reactor.core.Disposables;

/// A task and its progress. Safe from any thread.
final class RunningTask {
  private final AtomicReference<ClusterTask> progress;
  private final Disposable.Swap work = Disposables.swap();

  RunningTask(String id, String node, TaskOrder order) {
    this.progress = new AtomicReference<>(new ClusterTask(id, node, order, State.RUNNING, 0, 0, 0, ""));
  }

  ClusterTask now() {
    return progress.get();
  }

  boolean isRunning() {
    return now().state() == State.RUNNING;
  }

  void runs(Disposable running) {
    work.update(running);
  }

  /// Some blocks are done.
  void did(long blocks, long bytes) {
    progress.updateAndGet(was -> new ClusterTask(was.id(), was.node(), was.order(), was.state(), was.blocks() + blocks,
        was.bytes() + bytes, Math.max(0, was.left() - blocks), was.problem()));
  }

  /// How many blocks there are to do still.
  void left(long blocks) {
    progress.updateAndGet(was -> new ClusterTask(was.id(), was.node(), was.order(), was.state(), was.blocks(),
        was.bytes(), blocks, was.problem()));
  }

  /// Something could not be done; the task goes on.
  void problem(String what) {
    progress.updateAndGet(was -> new ClusterTask(was.id(), was.node(), was.order(), was.state(), was.blocks(),
        was.bytes(), was.left(), what));
  }

  /// Ends the task, once.
  ///
  /// @return false if it had ended before
  boolean end(State state, String problem) {
    ClusterTask before = progress.getAndUpdate(was -> was.state() != State.RUNNING
        ? was
        : new ClusterTask(was.id(), was.node(), was.order(), state, was.blocks(), was.bytes(), was.left(),
            problem.isEmpty() ? was.problem() : problem));
    if (before.state() != State.RUNNING) {
      return false;
    }
    if (state == State.CANCELLED) {
      work.dispose();
    }
    return true;
  }
}
