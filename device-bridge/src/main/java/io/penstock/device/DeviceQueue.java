package io.penstock.device;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.check.Checks;
import io.penstock.device.DeviceFailure.DeviceBusyException;
import io.penstock.device.DeviceFailure.DeviceClosedException;
import io.penstock.tier.spi.RoomSignal;
import java.util.ArrayDeque;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.util.Logger;
import reactor.util.Loggers;

/// The work queue of one device, for implementations of [Device]: bounded, first come first served, one at a time, on
/// the device's own thread. Each submitted work ends in exactly one call, [Work#run] or [Work#refuse], also when the
/// queue closes.
///
/// It is no `Serial`: work belongs to one platform thread, to which the device's context is bound, never to the
/// caller's.
public final class DeviceQueue {
  /// One piece of work. Neither method may throw.
  public interface Work {
    /// Time that the device takes before [#run] is called, in nanoseconds on the clock of its scheduler. 0 for a device
    /// that takes its time in [#run] itself.
    default long nanos() {
      return 0;
    }

    /// Does the work and sends the result, on the device's thread.
    void run();

    /// Reports a refusal: on the caller's thread if the queue did not accept the work, else on the device's.
    void refuse(RuntimeException reason);
  }

  private static final Logger LOG = Loggers.getLogger(DeviceQueue.class);

  private final String device;
  private final int maxQueued;
  private final Scheduler.Worker thread;
  private final Sinks.Empty<Void> closed = Sinks.empty();
  private final RoomSignal room = new RoomSignal();

  @GuardedBy("this") private final ArrayDeque<Work> queue = new ArrayDeque<>();
  @GuardedBy("this") private int queued;
  @GuardedBy("this") private boolean running;
  @GuardedBy("this") private boolean closing;

  /// @param device named in errors
  /// @param maxQueued maximum amount of work that waits
  /// @param thread one platform thread, or a clock under test; its owner disposes of it after [#close]
  public DeviceQueue(String device, int maxQueued, Scheduler thread) {
    this.device = requireNonNull(device, "device");
    Checks.positive("maxQueued", maxQueued);
    this.maxQueued = maxQueued;
    this.thread = thread.createWorker();
  }

  /// Queues `work`, or refuses it at once.
  public void submit(Work work) {
    RuntimeException refusal = enter(work);
    if (refusal != null) {
      work.refuse(refusal);
    }
  }

  /// Queues a return that cannot be refused, such as a free. After [#close] it is dropped: closing frees everything.
  ///
  /// Returns have no bound of their own. They are bounded by allocations: each allocation, made by [#submit], is
  /// returned once, and an allocation is a tier or a bridge, not a block.
  public void submitReturn(Runnable work) {
    enterReturn(work, false);
  }

  /// Refuses waiting and new work, waits for the running one, runs `last` on the device's thread and completes, or
  /// signals what it threw.
  public Mono<Void> close(Runnable last) {
    return Mono.defer(() -> {
      enterReturn(() -> end(last), true);
      return closed.asMono();
    });
  }

  private @Nullable RuntimeException enter(Work work) {
    synchronized (this) {
      if (closing) {
        return new DeviceClosedException(device);
      }
      if (queued == maxQueued) {
        return new DeviceBusyException(device, maxQueued, room.refused());
      }
      queued++;
      queue.add(work);
      if (running) {
        return null;
      }
      running = true;
    }
    wake();
    return null;
  }

  private void enterReturn(Runnable work, boolean isLast) {
    synchronized (this) {
      if (closing) {
        return;
      }
      closing = isLast;
      queue.add(new Return(work));
      if (running) {
        return;
      }
      running = true;
    }
    wake();
  }

  private void end(Runnable last) {
    try {
      last.run();
      closed.emitEmpty(Sinks.EmitFailureHandler.FAIL_FAST);
    } catch (Throwable e) { // the subscriber must get an end, also by an Error
      closed.emitError(e, Sinks.EmitFailureHandler.FAIL_FAST);
    } finally {
      thread.dispose();
    }
  }

  /// Makes the thread work through the queue. Without a thread the device is gone, and the caller refuses the queued
  /// work.
  private void wake() {
    try {
      thread.schedule(this::work);
    } catch (RejectedExecutionException e) {
      abandon();
    }
  }

  private void work() {
    for (Work next = next(); next != null; next = next()) {
      if (isClosing() && !(next instanceof Return)) {
        next.refuse(new DeviceClosedException(device));
        continue;
      }
      long nanos = next.nanos();
      if (nanos > 0) {
        runAfter(next, nanos);
        return;
      }
      next.run();
    }
  }

  private void runAfter(Work work, long nanos) {
    try {
      thread.schedule(() -> {
        work.run();
        work();
      }, nanos, TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      work.refuse(new DeviceClosedException(device));
      abandon();
    }
  }

  private void abandon() {
    for (Work next = next(); next != null; next = next()) {
      if (next instanceof Return) {
        next.run();
      } else {
        next.refuse(new DeviceClosedException(device));
      }
    }
  }

  private synchronized boolean isClosing() {
    return closing;
  }

  private @Nullable Work next() {
    Work next = polled();
    room.left();
    return next;
  }

  private synchronized @Nullable Work polled() {
    Work next = queue.poll();
    running = next != null;
    if (next != null && !(next instanceof Return)) {
      queued--;
    }
    return next;
  }

  /// Never refused, not counted.
  private record Return(Runnable work) implements Work {
    @Override
    public void run() {
      try {
        work.run();
      } catch (Throwable e) { // a return has no subscriber, and the queue must go on
        LOG.warn("a device failed to take a return", e);
      }
    }

    @Override
    public void refuse(RuntimeException reason) {
      throw new IllegalStateException("a return must not be refused", reason);
    }
  }
}
