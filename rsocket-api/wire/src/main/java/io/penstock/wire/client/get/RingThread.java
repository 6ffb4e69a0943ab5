package io.penstock.wire.client.get;

import reactor.core.scheduler.NonBlocking;

/// The thread that hears the answers of a read ring. Reactor refuses to block it: what it would wait for, it alone
/// could hear.
public final class RingThread extends Thread implements NonBlocking {
  public RingThread(Runnable work) {
    super(work, "penstock-ring-client");
    setDaemon(true);
  }
}
