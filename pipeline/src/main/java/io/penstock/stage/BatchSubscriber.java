package io.penstock.stage;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.operator.Demand;
import io.penstock.operator.Failures;
import io.penstock.operator.SerialLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;
import reactor.util.context.Context;

/// One subscription of [Batch]: no operator of Reactor bounds count, bytes and delay together under demand.
///
/// The monitor guards the state. Signals leave from [#step], one at a time, outside the monitor.
final class BatchSubscriber<T> implements CoreSubscriber<T>, Subscription {
  private final CoreSubscriber<? super List<T>> actual;
  private final Batch.Options options;
  private final ToLongFunction<? super T> weigher;
  private final Scheduler timer;
  private final SerialLoop signals = new SerialLoop(this::runSteps, this::end);

  @SuppressWarnings("NullAway.Init") // set before any other signal can come
  private volatile Subscription upstream;
  @GuardedBy("this") private List<T> batch = new ArrayList<>();
  @GuardedBy("this") private long batchBytes;
  /// The element for which `batch` had no room: the first element of the next batch.
  @GuardedBy("this") private @Nullable T carried;
  @GuardedBy("this") private long demand;
  @GuardedBy("this") private boolean pulling;
  @GuardedBy("this") private boolean due;
  @GuardedBy("this") private boolean ended;
  @GuardedBy("this") private boolean over;
  @GuardedBy("this") private @Nullable Throwable failure;
  /// Number of the batch under construction, so that a late timer does not end the next batch.
  @GuardedBy("this") private long number;
  @GuardedBy("this") private @Nullable Disposable alarm;

  BatchSubscriber(CoreSubscriber<? super List<T>> actual, Batch.Options options, ToLongFunction<? super T> weigher,
      Scheduler timer) {
    this.actual = actual;
    this.options = options;
    this.weigher = weigher;
    this.timer = timer;
  }

  @Override
  public Context currentContext() {
    return actual.currentContext();
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    if (Operators.validate(upstream, subscription)) {
      upstream = subscription;
      actual.onSubscribe(this);
    }
  }

  @Override
  public void onNext(T element) {
    requireNonNull(element, "element");
    long bytes;
    try {
      bytes = weigher.applyAsLong(element);
    } catch (RuntimeException | Error e) {
      Operators.onDiscard(element, currentContext());
      fail(e);
      return;
    }
    if (!take(element, bytes)) {
      Operators.onDiscard(element, currentContext());
      return;
    }
    startAlarm();
    signals.run();
  }

  @Override
  public void onError(Throwable error) {
    requireNonNull(error, "error");
    synchronized (this) {
      if (over || ended) {
        Operators.onErrorDropped(error, currentContext());
        return;
      }
      ended = true;
      failure = error;
    }
    signals.run();
  }

  private void fail(Throwable error) {
    upstream.cancel();
    onError(Failures.passable(error));
  }

  /// Ends the stream with `error`, even if the source has ended and a batch still waits.
  private void end(Throwable error) {
    synchronized (this) {
      if (over) {
        Operators.onErrorDropped(error, currentContext());
        return;
      }
      ended = true;
      failure = error;
    }
    upstream.cancel();
    signals.run();
  }

  @Override
  public void onComplete() {
    synchronized (this) {
      ended = true;
    }
    signals.run();
  }

  @Override
  public void request(long n) {
    synchronized (this) {
      if (over) {
        return;
      }
      if (n > 0) {
        demand = Demand.plus(demand, n);
      }
    }
    if (n > 0) {
      signals.run();
    } else {
      end(Demand.refusal(n));
    }
  }

  @Override
  public void cancel() {
    synchronized (this) {
      if (over) {
        return;
      }
      over = true;
    }
    upstream.cancel();
    signals.run();
  }

  private synchronized boolean take(T element, long bytes) {
    if (over || ended) {
      return false;
    }
    pulling = false;
    if (!batch.isEmpty() && bytes > options.maxBytes() - batchBytes) {
      carried = element;
    } else {
      add(element, bytes);
    }
    return true;
  }

  @GuardedBy("this") private void add(T element, long bytes) {
    batch.add(element);
    batchBytes += bytes;
  }

  private void startAlarm() {
    try {
      tryStartAlarm();
    } catch (RuntimeException | Error e) { // the timer was disposed
      fail(e);
    }
  }

  private void tryStartAlarm() {
    long mine;
    synchronized (this) {
      if (alarm != null || batch.isEmpty() || isFull() || over) {
        return;
      }
      mine = number;
    }
    Disposable started = timer.schedule(() -> ring(mine), options.maxDelay().toNanos(), TimeUnit.NANOSECONDS);
    synchronized (this) {
      if (mine == number && !over) {
        alarm = started;
        return;
      }
    }
    started.dispose();
  }

  private void ring(long rung) {
    synchronized (this) {
      due |= rung == number && !batch.isEmpty();
    }
    signals.run();
  }

  @GuardedBy("this") private boolean isFull() {
    return carried != null || batch.size() >= options.maxCount() || batchBytes >= options.maxBytes();
  }

  private void runSteps() {
    while (step()) {
      continue;
    }
  }

  /// Does one piece of work; false if there is none now.
  private boolean step() {
    List<T> dropped = List.of();
    List<T> complete = null;
    boolean pull = false;
    boolean end = false;
    synchronized (this) {
      if (over) {
        dropped = cut();
      } else if (failure != null) {
        over = true;
        end = true;
        dropped = cut();
      } else if (!batch.isEmpty() && demand > 0 && (isFull() || due || ended)) {
        demand = Demand.minus(demand, 1);
        complete = cut();
      } else if (ended && batch.isEmpty()) {
        over = true;
        end = true;
      } else if (!ended && !pulling && demand > 0) {
        pulling = true;
        pull = true;
      }
    }
    if (complete != null) {
      actual.onNext(complete);
      startAlarm();
    } else if (pull) {
      upstream.request(1);
    } else if (end) {
      end(dropped);
    } else {
      Operators.onDiscardMultiple(dropped, currentContext());
    }
    return complete != null || pull || end || !dropped.isEmpty();
  }

  private void end(List<T> dropped) {
    Operators.onDiscardMultiple(dropped, currentContext());
    Throwable error;
    synchronized (this) {
      error = failure;
    }
    if (error == null) {
      actual.onComplete();
    } else {
      actual.onError(error);
    }
  }

  /// Ends the batch under construction, and begins the next batch with the carried element.
  @GuardedBy("this") private List<T> cut() {
    List<T> complete = batch;
    batch = new ArrayList<>();
    batchBytes = 0;
    due = false;
    number++;
    if (alarm != null) {
      alarm.dispose();
      alarm = null;
    }
    T first = carried;
    if (first != null) {
      carried = null;
      add(first, weigher.applyAsLong(first));
    }
    return complete;
  }
}
