package io.penstock.wire.server.call;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.operator.Failures;
import io.penstock.wire.protocol.WireFormatException;
import io.rsocket.Payload;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;

/// Waits for the first payload of a channel, the open message, which travels without credit and never carries bulk;
/// then lets its receiver take the channel over. A heavy message is read in its turn, on another thread; what the
/// sender signals until then waits. Signals of a channel come one at a time.
final class PutOpening implements CoreSubscriber<Payload>, Subscription {
  private enum State {
    WAITING, OPENING, OPEN, FAILED
  }

  private final CoreSubscriber<? super Payload> out;
  private final Function<Payload, Request> charge;
  private final BiFunction<Request, CoreSubscriber<? super Payload>, CoreSubscriber<Payload>> open;
  private final Scheduler turns;
  private @Nullable Subscription in;
  @GuardedBy("this") private State state = State.WAITING;
  @GuardedBy("this") private @Nullable CoreSubscriber<Payload> receiver;
  @GuardedBy("this") private @Nullable Throwable broken;
  @GuardedBy("this") private boolean completed;

  /// @param charge takes the open message over, or throws
  /// @param open reads the open message, and throws if it is wrong
  /// @param turns runs `open` for a heavy message
  PutOpening(CoreSubscriber<? super Payload> out, Function<Payload, Request> charge,
      BiFunction<Request, CoreSubscriber<? super Payload>, CoreSubscriber<Payload>> open, Scheduler turns) {
    this.out = out;
    this.charge = charge;
    this.open = open;
    this.turns = turns;
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    in = subscription;
    subscription.request(1);
  }

  @Override
  public void onNext(Payload payload) {
    CoreSubscriber<Payload> opened;
    boolean isFirst;
    synchronized (this) {
      opened = receiver;
      isFirst = state == State.WAITING;
      if (isFirst) {
        state = State.OPENING;
      } else if (state == State.OPENING) {
        broken = WireFormatException.request("channel", "silent until its first answer", "a second payload");
      }
    }
    if (opened != null) {
      opened.onNext(payload);
    } else if (isFirst) {
      begin(payload);
    } else {
      payload.release();
    }
  }

  private void begin(Payload payload) {
    Request request;
    try {
      request = charge.apply(payload);
    } catch (RuntimeException | Error e) {
      fail(e);
      return;
    }
    if (!request.isHeavy()) {
      open(request);
      return;
    }
    try {
      turns.schedule(() -> open(request));
    } catch (RuntimeException | Error e) { // the node is closing
      request.close();
      fail(e);
    }
  }

  private void open(Request request) {
    CoreSubscriber<Payload> opened;
    try {
      opened = open.apply(request, out);
    } catch (RuntimeException | Error e) {
      request.close();
      fail(e);
      return;
    }
    Throwable failure;
    boolean isComplete;
    synchronized (this) { // the first slice waits until the receiver has its subscription
      receiver = opened;
      state = State.OPEN;
      failure = broken;
      isComplete = completed;
      opened.onSubscribe(this);
    }
    if (failure != null) {
      opened.onError(failure);
    } else if (isComplete) {
      opened.onComplete();
    }
  }

  private void fail(Throwable error) {
    synchronized (this) {
      state = State.FAILED;
    }
    cancel();
    Operators.error(out, Failures.passable(error));
  }

  @Override
  public void onError(Throwable error) {
    CoreSubscriber<Payload> opened;
    State now;
    synchronized (this) {
      opened = receiver;
      now = state;
      broken = error;
    }
    if (opened != null) {
      opened.onError(error);
    } else if (now == State.WAITING) {
      Operators.error(out, error);
    }
  }

  @Override
  public void onComplete() {
    CoreSubscriber<Payload> opened;
    State now;
    synchronized (this) {
      opened = receiver;
      now = state;
      completed = true;
    }
    if (opened != null) {
      opened.onComplete();
    } else if (now == State.WAITING) {
      Operators.complete(out);
    }
  }

  @Override
  public void request(long n) {
    if (in != null) {
      in.request(n);
    }
  }

  @Override
  public void cancel() {
    if (in != null) {
      in.cancel();
    }
  }
}
