package io.penstock.device.sidecar;

import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Scheduler;

/// Work on threads that may wait. Whatever it throws is its result, an `Error` too: Reactor lets those pass, and a
/// region would stay for good.
final class HandWork {
  private HandWork() {}

  /// @param work done to its end, also after a cancel
  static <T> Mono<T> on(Scheduler hands, Callable<T> work) {
    return Mono.create(sink -> {
      AtomicBoolean begun = new AtomicBoolean();
      try {
        hands.schedule(() -> {
          if (!begun.getAndSet(true)) {
            run(work, sink);
          }
        });
      } catch (Throwable e) { // no thread; a task that stays in line does nothing
        if (!begun.getAndSet(true)) {
          sink.error(e);
        }
      }
    });
  }

  /// Runs `work` here.
  private static <T> void run(Callable<T> work, MonoSink<T> sink) {
    T done;
    try {
      done = work.call();
    } catch (Throwable e) {
      sink.error(e);
      return;
    }
    sink.success(done);
  }
}
