package io.penstock.wire.transport;

import reactor.core.scheduler.Scheduler;

/// A connection that can run something later. So limits on the time of its requests need no thread of their own.
public interface TimedConnection {
  /// Runs tasks on the thread on which the connection signals.
  Scheduler timers();
}
