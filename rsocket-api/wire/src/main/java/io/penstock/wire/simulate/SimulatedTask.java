package io.penstock.wire.simulate;

import reactor.core.Disposable;

/// Something to run at a moment, once or again and again.
final class SimulatedTask implements Disposable {
  private final SimulatedTime time;
  final SimulatedTime.SimulatedLane lane;
  final Runnable action;
  final long periodNanos;
  long dueNanos;
  long number;
  boolean waiting;
  private boolean disposed;

  SimulatedTask(SimulatedTime time, SimulatedTime.SimulatedLane lane, Runnable action, long periodNanos) {
    this.time = time;
    this.lane = lane;
    this.action = action;
    this.periodNanos = periodNanos;
  }

  @Override
  public void dispose() {
    disposed = true;
    time.cancelled(this);
  }

  @Override
  public boolean isDisposed() {
    return disposed;
  }
}
