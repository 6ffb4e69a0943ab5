package io.penstock.wire.client.get;

import reactor.core.scheduler.NonBlocking;

/// The thread that reads the answers of a read ring. Reactor refuses to block it, because a wait on it could only end
/// by its own work.
public final class RingThread extends Thread implements NonBlocking {
  public RingThread(Runnable work) {
    super(work, "penstock-ring-client");
    setDaemon(true);
  }
}
