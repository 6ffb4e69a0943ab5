package io.penstock.operator;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/// A place in a queue that calls back, as a `Mono`. It ends once: with a grant, a refusal or a cancel. A cancel leaves
/// the queue. What is granted to a place that was left goes back; what is granted just before the cancel belongs to the
/// owner that took it, and is free when that owner closes it. Safe from any thread.
///
/// @param <T> what is granted
public final class QueuedGrant<T> {
  private final MonoSink<T> sink;
  private final AtomicBoolean asked = new AtomicBoolean();
  private final AtomicBoolean ended = new AtomicBoolean();

  private QueuedGrant(MonoSink<T> sink) {
    this.sink = sink;
  }

  /// @param queue takes a place in the queue, and answers how to leave it
  /// @return cold; enters the queue at the first request, and signals what `queue` throws
  public static <T> Mono<T> of(Function<QueuedGrant<T>, Runnable> queue) {
    return Mono.create(sink -> {
      QueuedGrant<T> grant = new QueuedGrant<>(sink);
      sink.onRequest(n -> grant.enter(queue));
    });
  }

  /// Enters once: a `MonoSink` reports every request, and operators repeat requests.
  private void enter(Function<QueuedGrant<T>, Runnable> queue) {
    if (!asked.compareAndSet(false, true)) {
      return;
    }
    try {
      Runnable leave = queue.apply(this);
      sink.onCancel(() -> {
        if (ends()) {
          leave.run();
        }
      });
    } catch (RuntimeException | Error e) {
      refused(e);
    }
  }

  /// The queue has reached this place.
  ///
  /// @param take takes what was granted, for its owner
  /// @param giveBack runs instead if the place was left
  public void granted(Supplier<T> take, Runnable giveBack) {
    if (ends()) {
      sink.success(take.get());
    } else {
      giveBack.run();
    }
  }

  /// The queue will not reach this place.
  public void refused(Throwable why) {
    if (ends()) {
      sink.error(Failures.passable(why));
    }
  }

  private boolean ends() {
    return ended.compareAndSet(false, true);
  }
}
