package io.penstock.wire.client.link;

import io.penstock.operator.Failures;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.report.LateErrors;
import io.rsocket.Payload;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/// One message for one reply, sent again by each subscription: one object replaces a chain of operators.
///
/// @param <T> the reply
final class Ask<T> extends Mono<T> {
  private final NodeConnection connection;
  private final String route;
  private final Supplier<Payload> request;
  private final Class<T> reply;
  private final BooleanSupplier owed;

  /// @param request makes the message, once for each subscription
  /// @param owed whether the node owes the answer; false as long as the caller wants it to wait
  Ask(NodeConnection connection, String route, Supplier<Payload> request, Class<T> reply, BooleanSupplier owed) {
    this.owed = owed;
    this.connection = connection;
    this.route = route;
    this.request = request;
    this.reply = reply;
  }

  @Override
  public void subscribe(CoreSubscriber<? super T> actual) {
    Payload payload;
    try {
      payload = request.get();
    } catch (RuntimeException | Error e) {
      Operators.error(actual, connection.failure(e));
      return;
    }
    connection.rsocket().requestResponse(payload).subscribe(new Exchange(actual));
  }

  private final class Exchange implements CoreSubscriber<Payload>, Subscription, AnswerLimit.Pending {
    private final CoreSubscriber<? super T> actual;
    private final AtomicBoolean over = new AtomicBoolean();
    private final AnswerLimit.Silence silence = new AnswerLimit.Silence();
    private @Nullable Subscription in;
    private boolean asked;

    private Exchange(CoreSubscriber<? super T> actual) {
      this.actual = actual;
    }

    @Override
    public Context currentContext() {
      return LateErrors.ignoredIn(actual.currentContext());
    }

    @Override
    public void onSubscribe(Subscription subscription) {
      in = subscription;
      actual.onSubscribe(this);
    }

    @Override
    public void request(long n) {
      if (in == null) {
        return;
      }
      if (!asked) {
        asked = true;
        answers().enter(this);
        if (over.get()) { // cancelled meanwhile
          answers().leave(this);
        }
      }
      in.request(n);
    }

    @Override
    public void cancel() {
      if (isEnded()) {
        stop();
      }
    }

    @Override
    public void look() {
      if (silence.isTooLong(owed.getAsBoolean(), 1) && isEnded()) {
        stop();
        actual.onError(answers().exceeded(route, connection.peer(), 1));
      }
    }

    @Override
    public void onNext(Payload payload) {
      if (!isEnded()) {
        payload.release();
        return;
      }
      T told;
      try {
        told = NodeConnection.read(payload, reply);
      } catch (RuntimeException | Error e) {
        stop();
        actual.onError(connection.failure(e));
        return;
      }
      try {
        actual.onNext(told);
        actual.onComplete();
      } catch (RuntimeException | Error e) { // a reader that throws gets the error: no other signal would end it
        actual.onError(Failures.passable(e));
      }
    }

    @Override
    public void onError(Throwable error) {
      if (isEnded()) {
        actual.onError(connection.failure(error));
      }
    }

    @Override
    public void onComplete() {
      if (isEnded()) { // a node that says nothing has not answered
        actual.onError(connection.failure(WireFormatException.request("reply of " + route, "a message", "none")));
      }
    }

    /// True for the one who ends it.
    private boolean isEnded() {
      if (over.getAndSet(true)) {
        return false;
      }
      answers().leave(this);
      return true;
    }

    private void stop() {
      if (in != null) {
        in.cancel();
      }
    }

    private AnswerLimit answers() {
      return connection.transport().answers();
    }
  }
}
