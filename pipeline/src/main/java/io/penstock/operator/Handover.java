package io.penstock.operator;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.util.context.Context;

/// Hands one value, which its owner has to free, to one subscriber, or frees it. A `MonoSink` alone may lose the value
/// when the subscriber cancels at the same moment: the value reaches neither the subscriber nor the hook for discarded
/// values.
///
/// A subscriber that cancels while the value is on its way may receive it freed. Safe from any thread.
///
/// @param <T> what is handed over; freeing it twice does nothing
public final class Handover<T> {
  private final Consumer<? super T> free;
  /// The value, from [#success] until the subscriber receives it.
  private final AtomicReference<@Nullable T> open = new AtomicReference<>();
  private volatile boolean cancelled;
  private volatile @Nullable MonoSink<T> sink;

  private Handover(Consumer<? super T> free) {
    this.free = free;
  }

  /// @param start begins the work for one subscriber, and ends it with [#success] or [#error]
  /// @param free frees a value that no subscriber received
  public static <T> Mono<T> of(Consumer<Handover<T>> start, Consumer<? super T> free) {
    return Mono.defer(() -> {
      Handover<T> handover = new Handover<>(free);
      return Mono.<T>create(sink -> {
        handover.sink = sink;
        start.accept(handover);
      }).doOnNext(value -> handover.open.set(null)).doOnCancel(handover::cancel);
    });
  }

  /// Hands over what `work` emits. A cancel ends the work until then, and does not reach it later: the value belongs to
  /// its subscriber.
  ///
  /// @param free frees a value that no subscriber received
  public static <T> Mono<T> of(Mono<T> work, Consumer<? super T> free) {
    return of(handover -> {
      MonoSink<T> sink = requireNonNull(handover.sink, "sink");
      sink.onCancel(work.subscribe(handover::success, sink::error, sink::success, Context.of(sink.contextView())));
    }, free);
  }

  /// Ends the work with `value`: the subscriber owns it from the moment it receives it.
  public void success(T value) {
    open.set(value);
    requireNonNull(sink, "sink").success(value);
    if (cancelled) {
      freeOpen();
    }
  }

  /// Ends the work without a value.
  public void error(Throwable why) {
    requireNonNull(sink, "sink").error(why);
  }

  private void cancel() {
    cancelled = true;
    freeOpen();
  }

  private void freeOpen() {
    T left = open.getAndSet(null);
    if (left != null) {
      free.accept(left);
    }
  }
}
