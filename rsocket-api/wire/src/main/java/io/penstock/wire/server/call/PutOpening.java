package io.penstock.wire.server.call;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.operator.Failures;
import io.penstock.wire.protocol.WireFormatException;
import io.rsocket.Payload;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;
import reactor.util.context.Context;

/// Waits for the first payload of a channel, the open message, which travels without credit and never carries bulk;
/// then lets its receiver take the channel over.
///
/// A heavy message is read in its turn, on another thread. Until then the sender has a subscription already, so that it
/// can ask for answers and leave. A sender that leaves gets no turn, and a second payload fails the channel at once.
/// Signals that come while the receiver begins wait for it. No one is called under the monitor.
final class PutOpening implements CoreSubscriber<Payload>, Subscription {
  private enum State {
    /// For the open message.
    WAITING,
    /// The open message waits for its turn.
    QUEUED,
    /// The receiver begins.
    BEGINNING,
    OPEN,
    /// Failed, or left by the sender.
    OVER
  }

  private final CoreSubscriber<? super Payload> out;
  private final Function<Payload, Request> charge;
  private final BiFunction<Request, CoreSubscriber<? super Payload>, CoreSubscriber<Payload>> open;
  private final Scheduler turns;
  private final Disposable.Swap turn = Disposables.swap();
  private @Nullable Subscription in;
  @GuardedBy("this") private State state = State.WAITING;
  /// The open message that waits for its turn.
  @GuardedBy("this") private @Nullable Request queued;
  /// The answers of a message that waited for its turn.
  private @Nullable LateAnswers answers;
  @GuardedBy("this") private @Nullable CoreSubscriber<Payload> receiver;
  /// Payloads that came while the receiver began: no more than it asked for.
  @GuardedBy("this") private final Queue<Payload> early = new ArrayDeque<>(0);
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
    CoreSubscriber<Payload> opened = null;
    Request unread = null;
    boolean isFirst = false;
    boolean isLost = false;
    synchronized (this) {
      switch (state) {
        case WAITING -> {
          isFirst = true;
          state = State.BEGINNING;
        }
        case BEGINNING -> early.add(payload);
        case OPEN -> opened = receiver;
        case QUEUED -> {
          unread = takeQueued(State.OVER);
          isLost = true;
        }
        case OVER -> isLost = true;
      }
    }
    if (isFirst) {
      begin(payload);
    } else if (opened != null) {
      opened.onNext(payload);
    } else if (isLost) {
      payload.release();
    }
    if (unread != null) {
      turn.dispose();
      unread.close();
      fail(WireFormatException.request("channel", "silent until its first answer", "a second payload"), answers);
    }
  }

  private void begin(Payload payload) {
    Request request;
    try {
      request = charge.apply(payload);
    } catch (RuntimeException | Error e) {
      fail(e, null);
      return;
    }
    if (!request.isHeavy()) {
      open(request, out, null);
      return;
    }
    LateAnswers late = new LateAnswers();
    answers = late;
    synchronized (this) {
      queued = request;
      state = State.QUEUED;
    }
    out.onSubscribe(late);
    try {
      turn.update(turns.schedule(() -> {
        Request mine = takeQueued(State.BEGINNING);
        if (mine != null) {
          open(mine, late, late);
        }
      }));
    } catch (RuntimeException | Error e) { // the node is closing
      Request mine = takeQueued(State.OVER);
      if (mine != null) {
        mine.close();
        fail(e, late);
      }
    }
  }

  /// The message that waits for its turn, for the one caller that takes it; null for any other.
  private synchronized @Nullable Request takeQueued(State next) {
    Request taken = queued;
    if (taken != null) {
      queued = null;
      state = next;
    }
    return taken;
  }

  /// @param late has the sender's subscription already; null if the receiver gives it one
  private void open(Request request, CoreSubscriber<? super Payload> to, @Nullable LateAnswers late) {
    CoreSubscriber<Payload> opened;
    try {
      opened = open.apply(request, to);
    } catch (RuntimeException | Error e) {
      request.close();
      fail(e, late);
      return;
    }
    opened.onSubscribe(this);
    for (Payload next = firstEarly(opened); next != null; next = firstEarly(opened)) {
      opened.onNext(next);
    }
    Throwable failure;
    boolean isComplete;
    synchronized (this) {
      failure = broken;
      isComplete = completed;
    }
    if (failure != null) {
      opened.onError(failure);
    } else if (isComplete) {
      opened.onComplete();
    }
  }

  /// The next payload that came while `opened` began; if there is none, later ones go to it at once.
  private synchronized @Nullable Payload firstEarly(CoreSubscriber<Payload> opened) {
    Payload next = early.poll();
    if (next == null) {
      receiver = opened;
      state = State.OPEN;
    }
    return next;
  }

  private void fail(Throwable error, @Nullable LateAnswers late) {
    Queue<Payload> lost;
    synchronized (this) {
      state = State.OVER;
      lost = new ArrayDeque<>(early);
      early.clear();
    }
    lost.forEach(Payload::release);
    cancel();
    if (late == null) {
      Operators.error(out, Failures.passable(error));
    } else if (!late.isLeft) {
      out.onError(Failures.passable(error));
    }
  }

  @Override
  public void onError(Throwable error) {
    CoreSubscriber<Payload> opened;
    boolean isAlone;
    synchronized (this) {
      opened = receiver;
      isAlone = state == State.WAITING;
      broken = error;
    }
    if (opened != null) {
      opened.onError(error);
    } else if (isAlone) {
      Operators.error(out, error);
    } else {
      leaveQueue();
    }
  }

  @Override
  public void onComplete() {
    CoreSubscriber<Payload> opened;
    boolean isAlone;
    synchronized (this) {
      opened = receiver;
      isAlone = state == State.WAITING;
      completed = true;
    }
    if (opened != null) {
      opened.onComplete();
    } else if (isAlone) {
      Operators.complete(out);
    }
  }

  /// The sender is gone: a message that waits for its turn is given up. False if none waits.
  private boolean leaveQueue() {
    Request mine = takeQueued(State.OVER);
    if (mine != null) {
      turn.dispose();
      mine.close();
    }
    return mine != null;
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

  /// The answers of a channel whose open message waits for its turn: the sender's subscription keeps what it asks for.
  private final class LateAnswers extends Operators.DeferredSubscription implements CoreSubscriber<Payload> {
    /// Whether the sender has left.
    private volatile boolean isLeft;

    @Override
    public Context currentContext() {
      return out.currentContext();
    }

    @Override
    public void onSubscribe(Subscription subscription) {
      set(subscription);
    }

    @Override
    public void onNext(Payload payload) {
      out.onNext(payload);
    }

    @Override
    public void onError(Throwable error) {
      out.onError(error);
    }

    @Override
    public void onComplete() {
      out.onComplete();
    }

    @Override
    public void cancel() {
      isLeft = true;
      super.cancel();
      if (leaveQueue()) { // else the receiver ends what it has
        PutOpening.this.cancel();
      }
    }
  }
}
