package io.penstock.device.sidecar.server;

import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Scheduler;

/// Work on threads that may wait. An error that it throws is its result, an `Error` too: Reactor would pass it on, and
/// a region would never end.
final class WorkerTask {
  private WorkerTask() {}

  /// @param work runs to its end, also after a cancel
  static <T> Mono<T> on(Scheduler workers, Callable<T> work) {
    return Mono.create(sink -> {
      AtomicBoolean begun = new AtomicBoolean();
      try {
        workers.schedule(() -> {
          if (!begun.getAndSet(true)) {
            run(work, sink);
          }
        });
      } catch (Throwable e) { // no thread; a task that is still scheduled does nothing
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
