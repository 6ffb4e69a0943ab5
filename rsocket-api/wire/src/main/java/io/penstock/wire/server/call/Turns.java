package io.penstock.wire.server.call;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.LinkedHashSet;
import java.util.SequencedSet;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// Runs heavy requests one at a time, and lets connections take turns: the oldest request of each connection before the
/// second one of any. So a request waits for one request of each other connection at most, however many wait there.
///
/// Safe from any thread.
public final class Turns {
  private final Scheduler worker;
  private final boolean isImmediate;
  /// Connections with waiting requests; the first has the next turn.
  @GuardedBy("this") private final SequencedSet<OfConnection> waiting = new LinkedHashSet<>();
  @GuardedBy("this") private boolean running;

  /// @param worker runs the requests; one thread is enough
  public Turns(Scheduler worker) {
    this.worker = worker;
    this.isImmediate = worker.equals(Schedulers.immediate());
  }

  /// The requests of one more connection, in their order.
  public Scheduler ofConnection() {
    return new OfConnection();
  }

  private void enter(OfConnection connection, Turn turn) {
    synchronized (this) {
      connection.turns.add(turn);
      waiting.add(connection); // keeps its place if it waits
      if (running) {
        return;
      }
      running = true;
    }
    runLater();
  }

  private void runLater() {
    try {
      worker.schedule(this::run);
    } catch (RejectedExecutionException e) { // the node is closing
      synchronized (this) {
        running = false;
        waiting.forEach(connection -> connection.turns.clear());
        waiting.clear();
      }
      throw e;
    }
  }

  /// One turn; an immediate worker runs them all, and has no other work in between.
  private void run() {
    Turn turn = next();
    while (turn != null) {
      boolean failed = true;
      try {
        turn.run();
        failed = false;
      } finally {
        if (failed || !isImmediate) {
          runLater();
        }
      }
      turn = isImmediate ? next() : null;
    }
  }

  private synchronized @Nullable Turn next() {
    if (waiting.isEmpty()) {
      running = false;
      return null;
    }
    OfConnection connection = waiting.removeFirst();
    Turn turn = connection.turns.removeFirst();
    if (!connection.turns.isEmpty()) {
      waiting.add(connection);
    }
    return turn;
  }

  private synchronized void leave(OfConnection connection, Turn turn) {
    connection.turns.remove(turn);
    if (connection.turns.isEmpty()) {
      waiting.remove(connection);
    }
  }

  /// Number of requests that wait.
  synchronized int size() {
    return waiting.stream().mapToInt(connection -> connection.turns.size()).sum();
  }

  /// One request; disposed, it leaves the queue.
  private final class Turn implements Runnable, Disposable {
    private final OfConnection connection;
    private final AtomicReference<@Nullable Runnable> task;

    Turn(OfConnection connection, Runnable task) {
      this.connection = connection;
      this.task = new AtomicReference<>(task);
    }

    @Override
    public void run() {
      Runnable now = task.getAndSet(null);
      if (now != null) {
        now.run();
      }
    }

    @Override
    public void dispose() {
      if (task.getAndSet(null) != null) { // else it ran or left before
        leave(connection, this);
      }
    }

    @Override
    public boolean isDisposed() {
      return task.get() == null;
    }
  }

  private final class OfConnection implements Scheduler {
    /// Guarded by the turns.
    private final SequencedSet<Turn> turns = new LinkedHashSet<>();

    @Override
    public Disposable schedule(Runnable task) {
      Turn turn = new Turn(this, task);
      enter(this, turn);
      return turn;
    }

    @Override
    public Worker createWorker() {
      return new OfRequest(this);
    }
  }

  /// The steps of one request.
  private static final class OfRequest implements Scheduler.Worker {
    private final OfConnection connection;
    private final Disposable.Composite steps = Disposables.composite();

    OfRequest(OfConnection connection) {
      this.connection = connection;
    }

    @Override
    public Disposable schedule(Runnable task) {
      Disposable.Swap step = Disposables.swap();
      if (!steps.add(step)) {
        throw new RejectedExecutionException("the request has ended");
      }
      step.update(connection.schedule(() -> {
        steps.remove(step);
        task.run();
      }));
      return step;
    }

    @Override
    public void dispose() {
      steps.dispose();
    }

    @Override
    public boolean isDisposed() {
      return steps.isDisposed();
    }
  }
}
