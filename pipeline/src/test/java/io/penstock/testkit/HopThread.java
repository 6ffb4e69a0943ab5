package io.penstock.testkit;

import java.util.concurrent.TimeUnit;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// One thread for `publishOn` to hop to, whose workers take tasks also after they were disposed.
///
/// Reactor's workers refuse them. An element that reaches `publishOn` while it is cancelled then meets a worker that
/// `publishOn` disposed itself, and by design (`FluxPublishOn.PublishOnSubscriber.trySchedule`) the refusal is reported
/// as a dropped error. That is noise of the hop: where a test counts what a stage between two hops drops, the hops must
/// be silent. Here the task runs, sees the cancel and clears its queue.
final class HopThread implements Scheduler {
  private final Scheduler thread;

  HopThread(String name) {
    thread = Schedulers.newSingle(name);
  }

  @Override
  public Disposable schedule(Runnable task) {
    return thread.schedule(task);
  }

  @Override
  public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
    return thread.schedule(task, delay, unit);
  }

  @Override
  public Worker createWorker() {
    return new Worker() {
      @Override
      public Disposable schedule(Runnable task) {
        return thread.schedule(task); // in order: there is one thread
      }

      @Override
      public void dispose() {
        // the task that is waiting finds its operator cancelled
      }
    };
  }

  @Override
  public void dispose() {
    thread.dispose();
  }
}
