package io.penstock.tier;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.operator.Demand;
import io.penstock.operator.SerialLoop;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/// The slices of one window after the other. The next window is requested when one of its slices is wanted. Reactor's
/// `concatMap` requests it earlier, when the last slice of the window before was taken; then a reader that has stopped
/// would hold the memory of a window that it did not ask for.
///
/// Signals leave outside the monitor, which guards the fields.
///
/// @param <W> type of the windows
final class WindowSlices<W> implements CoreSubscriber<W>, Subscription {
  private final CoreSubscriber<? super LayerSlice> actual;
  private final Function<? super W, Flux<LayerSlice>> cut;
  private final BlockScope scope;
  private final SerialLoop windowRequests = new SerialLoop(this::nextWindow, this::fail);
  @SuppressWarnings("NullAway.Init") // set before any other signal can come
  private volatile Subscription windows;
  /// Slices of the current window.
  @GuardedBy("this") private @Nullable Subscription slices;
  @GuardedBy("this") private long requested;
  /// Whether a window was requested and has not come.
  @GuardedBy("this") private boolean asked;
  /// The slices of a window have not ended.
  @GuardedBy("this") private boolean cutting;
  @GuardedBy("this") private boolean windowsEnded;
  @GuardedBy("this") private boolean over;
  /// A slice is being emitted: an error of the windows, on another thread, is signalled after it.
  @GuardedBy("this") private boolean emitting;
  @GuardedBy("this") private @Nullable Throwable failure;

  private WindowSlices(CoreSubscriber<? super LayerSlice> actual, Function<? super W, Flux<LayerSlice>> cut,
      BlockScope scope) {
    this.actual = actual;
    this.cut = cut;
    this.scope = scope;
  }

  /// @param cut the slices of a window, each made when it is requested
  /// @param scope owns the slices emitted
  static <W> Flux<LayerSlice> of(Flux<? extends W> windows, Function<? super W, Flux<LayerSlice>> cut,
      BlockScope scope) {
    return Flux.from(subscriber -> windows
        .subscribe(new WindowSlices<W>(Operators.toCoreSubscriber(subscriber), cut, scope)));
  }

  @Override
  public Context currentContext() {
    return actual.currentContext();
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    if (Operators.validate(windows, subscription)) {
      windows = subscription;
      actual.onSubscribe(this);
    }
  }

  @Override
  public void onNext(W window) {
    if (isCancelled()) { // the owner of the window closes it
      return;
    }
    Flux<LayerSlice> stream;
    try {
      stream = cut.apply(window);
    } catch (RuntimeException e) {
      fail(e);
      return;
    }
    stream.subscribe(new Slices());
  }

  private synchronized boolean isCancelled() {
    asked = false;
    cutting = !over;
    return over;
  }

  @Override
  public void onError(Throwable error) {
    Subscription current;
    boolean later;
    synchronized (this) {
      if (over) { // after a cancel, an error reaches no one
        return;
      }
      over = true;
      current = slices;
      later = emitting;
      failure = later ? error : null;
    }
    if (current != null) {
      current.cancel();
    }
    if (!later) {
      actual.onError(error);
    }
  }

  private void fail(Throwable error) {
    windows.cancel();
    onError(error);
  }

  /// Emits `slice`, unless the stream has ended.
  private void emit(LayerSlice slice) {
    if (!begin()) {
      slice.close();
      return;
    }
    try {
      actual.onNext(slice);
    } finally { // the error of a reader that threw comes in here, and must find the emission over
      Throwable ended = end();
      if (ended != null) {
        actual.onError(ended);
      }
    }
  }

  private synchronized boolean begin() {
    emitting = !over;
    requested = Demand.minus(requested, 1);
    return emitting;
  }

  private synchronized @Nullable Throwable end() {
    emitting = false;
    return failure;
  }

  @Override
  public void onComplete() {
    boolean last;
    synchronized (this) {
      windowsEnded = true;
      last = !cutting && !over;
      over |= last;
    }
    if (last) {
      actual.onComplete();
    }
  }

  @Override
  public void request(long n) {
    if (n <= 0) {
      fail(Demand.refusal(n));
      return;
    }
    Subscription current;
    synchronized (this) {
      requested = Demand.plus(requested, n);
      current = slices;
    }
    if (current != null) {
      current.request(n);
    } else {
      windowRequests.run();
    }
  }

  @Override
  public void cancel() {
    Subscription current;
    synchronized (this) {
      over = true;
      current = slices;
    }
    windows.cancel();
    if (current != null) {
      current.cancel();
    }
  }

  /// Asks for a window if a slice is wanted and no window is being cut.
  private void nextWindow() {
    if (isWindowDue()) {
      windows.request(1);
    }
  }

  private synchronized boolean isWindowDue() {
    boolean due = !asked && !cutting && !windowsEnded && !over && requested > 0;
    asked |= due;
    return due;
  }

  /// The slices of one window.
  private final class Slices implements CoreSubscriber<LayerSlice> {
    @Override
    public Context currentContext() {
      return actual.currentContext();
    }

    @Override
    public void onSubscribe(Subscription subscription) {
      long wanted;
      boolean left;
      synchronized (WindowSlices.this) {
        slices = subscription;
        wanted = requested;
        left = over;
      }
      if (left) {
        subscription.cancel();
      } else if (wanted > 0) {
        subscription.request(wanted);
      }
    }

    @Override
    public void onNext(LayerSlice slice) {
      emit(scope.adoptUnowned(slice));
    }

    @Override
    public void onError(Throwable error) {
      fail(error);
    }

    @Override
    public void onComplete() {
      boolean last;
      synchronized (WindowSlices.this) {
        slices = null;
        cutting = false;
        last = windowsEnded && !over;
        over |= last;
      }
      if (last) {
        actual.onComplete();
      } else {
        windowRequests.run();
      }
    }
  }
}
