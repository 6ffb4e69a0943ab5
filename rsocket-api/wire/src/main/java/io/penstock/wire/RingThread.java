package io.penstock.wire;

import reactor.core.scheduler.NonBlocking;

/// The thread that hears the answers of a read ring. Reactor refuses to block it: what it would wait for, it alone
/// could hear.
final class RingThread extends Thread implements NonBlocking {
  RingThread(Runnable work) {
    super(work, "penstock-ring-client");
    setDaemon(true);
  }
}
