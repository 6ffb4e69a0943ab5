package io.penstock.wire.transport;

import reactor.core.scheduler.Scheduler;

/// A transport that can run something later, before it has made a connection. So a limit on connecting needs no thread
/// of its own.
public interface TimedTransport {
  /// Runs tasks on a thread of the transport's connections.
  Scheduler timers();
}
