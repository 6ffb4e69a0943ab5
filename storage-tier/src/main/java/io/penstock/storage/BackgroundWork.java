package io.penstock.storage;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// The steps of a work in the background, one at a time, of which none is begun after the close. Safe from any thread.
final class BackgroundWork {
  private final Sinks.Empty<Void> over = Sinks.empty();
  @GuardedBy("this") private boolean running;
  @GuardedBy("this") private boolean closed;

  /// False after the close; else [#ended] follows, whatever becomes of the step.
  synchronized boolean begin() {
    running = !closed;
    return running;
  }

  /// The step is over, and has let go of all it had.
  void ended() {
    boolean wasLast;
    synchronized (this) {
      running = false;
      wasLast = closed;
    }
    if (wasLast) {
      over.tryEmitEmpty();
    }
  }

  synchronized boolean isClosed() {
    return closed;
  }

  /// Begins none any more.
  synchronized void stop() {
    closed = true;
  }

  /// The same.
  ///
  /// @return completes when no step runs any more
  synchronized Mono<Void> close() {
    stop();
    return running ? over.asMono() : Mono.empty();
  }
}
