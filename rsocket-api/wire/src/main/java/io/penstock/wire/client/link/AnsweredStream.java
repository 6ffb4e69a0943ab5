package io.penstock.wire.client.link;

import io.penstock.operator.Demand;
import io.penstock.operator.Serial;
import io.penstock.wire.report.LateErrors;
import io.rsocket.Payload;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/// Reads the payloads of a node on one stream, and ends the stream when the node owes one and is silent for too long.
///
/// @param <T> type of the results
public final class AnsweredStream<T> implements CoreSubscriber<Payload>, Subscription, AnswerLimit.Pending {
  /// Settings of one stream.
  ///
  /// @param route of the request
  /// @param read takes a payload over; a step of the stream
  /// @param limits number of limits after which silence is too long; 0 while the node owes nothing. A step of the
  ///     stream
  /// @param moved grows with all other signs of life of the node
  public record Setting<T>(NodeConnection connection, String route, Function<Payload, T> read, IntSupplier limits,
      LongSupplier moved) {}

  private final CoreSubscriber<? super T> actual;
  private final Setting<T> setting;
  private final Serial serial = new Serial(this::fail);
  private final AnswerLimit.Silence silence = new AnswerLimit.Silence();
  private volatile @Nullable Subscription in;
  private volatile boolean done;
  private long movedBefore;

  private AnsweredStream(CoreSubscriber<? super T> actual, Setting<T> setting) {
    this.actual = actual;
    this.setting = setting;
  }

  public static <T> Flux<T> of(Flux<Payload> source, Setting<T> setting) {
    return Flux
        .from(subscriber -> source.subscribe(new AnsweredStream<T>(Operators.toCoreSubscriber(subscriber), setting)));
  }

  @Override
  public Context currentContext() {
    return LateErrors.ignoredIn(actual.currentContext());
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    in = subscription;
    answers().enter(this);
    actual.onSubscribe(this);
  }

  @Override
  public void request(long n) {
    Subscription asked = in;
    if (n <= 0) {
      serial.run(() -> fail(Demand.refusal(n)));
    } else if (asked != null) {
      asked.request(n);
    }
  }

  @Override
  public void cancel() {
    done = true;
    stop();
  }

  @Override
  public void onNext(Payload payload) {
    serial.run(() -> {
      if (done) {
        payload.release();
      } else {
        silence.heard();
        actual.onNext(setting.read().apply(payload));
      }
    });
  }

  @Override
  public void onError(Throwable error) {
    serial.run(() -> {
      if (!done) {
        end();
        actual.onError(error);
      }
    });
  }

  @Override
  public void onComplete() {
    serial.run(() -> {
      if (!done) {
        end();
        actual.onComplete();
      }
    });
  }

  @Override
  public void look() {
    serial.run(() -> {
      long moved = setting.moved().getAsLong();
      if (moved != movedBefore) {
        movedBefore = moved;
        silence.heard();
      }
      int limits = setting.limits().getAsInt();
      if (!done && silence.isTooLong(limits > 0, limits)) {
        throw answers().exceeded(setting.route(), setting.connection().peer(), limits);
      }
    });
  }

  private void fail(Throwable error) {
    if (!done) {
      done = true;
      stop();
      actual.onError(error);
    }
  }

  private void end() {
    done = true;
    answers().leave(this);
  }

  private void stop() {
    answers().leave(this);
    Subscription stopped = in;
    if (stopped != null) {
      stopped.cancel();
    }
  }

  private AnswerLimit answers() {
    return setting.connection().transport().answers();
  }
}
