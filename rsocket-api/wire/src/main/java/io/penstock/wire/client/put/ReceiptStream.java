package io.penstock.wire.client.put;

import io.penstock.operator.Demand;
import io.penstock.tier.Receipt;
import io.penstock.wire.credit.SerialSubscription;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.util.context.Context;

/// The receipts of one put, one by one, from the answers of the node. At most [#ANSWERS_AHEAD] answers wait for the
/// reader. An error ends the stream at once.
final class ReceiptStream extends SerialSubscription implements CoreSubscriber<List<Receipt>> {
  private static final int ANSWERS_AHEAD = 4;
  /// Answers that are requested together.
  private static final int ANSWERS_AT_ONCE = 3;

  private final CoreSubscriber<? super Receipt> reader;
  private final Runnable ended;
  private final UnaryOperator<Throwable> failed;
  private final Queue<List<Receipt>> answers = new ArrayDeque<>(ANSWERS_AHEAD);
  private @Nullable Subscription in;
  /// Receipts of the first answer that were read.
  private int read;
  /// Answers that were read and not requested again.
  private int taken;
  private boolean isLast;

  /// @param ended runs before the stream completes; an error that it throws ends the stream instead
  /// @param failed hears an error of the channel, and answers it in the form for the reader
  ReceiptStream(CoreSubscriber<? super Receipt> reader, Runnable ended, UnaryOperator<Throwable> failed) {
    this.reader = reader;
    this.ended = ended;
    this.failed = failed;
  }

  @Override
  public Context currentContext() {
    return reader.currentContext();
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    in = subscription;
    reader.onSubscribe(this);
    subscription.request(ANSWERS_AHEAD);
  }

  @Override
  public void onNext(List<Receipt> answer) {
    serial.run(() -> {
      answers.add(answer);
      proceed();
    });
  }

  @Override
  public void onError(Throwable error) {
    serial.run(() -> {
      isLast = true;
      fail(error);
    });
  }

  @Override
  public void onComplete() {
    serial.run(() -> {
      isLast = true;
      proceed();
    });
  }

  /// Ends the stream with an error of this side as it is.
  void end(Throwable error) {
    serial.run(() -> {
      if (!done) {
        done = true;
        letGo();
        reader.onError(error);
      }
    });
  }

  @Override
  protected void proceed() {
    while (!done) {
      List<Receipt> first = answers.peek();
      if (first == null) {
        finishIfLast();
        return;
      } else if (read == first.size()) {
        answers.remove();
        read = 0;
        requestMore();
      } else if (requested > 0) {
        requested = Demand.minus(requested, 1);
        reader.onNext(first.get(read++));
      } else {
        return;
      }
    }
  }

  private void requestMore() {
    if (++taken == ANSWERS_AT_ONCE && in != null && !isLast) {
      taken = 0;
      in.request(ANSWERS_AT_ONCE);
    }
  }

  private void finishIfLast() {
    if (isLast) {
      ended.run(); // fails the stream if it throws
      done = true;
      reader.onComplete();
    }
  }

  @Override
  protected RuntimeException misrequest(long n) {
    return Demand.refusal(n);
  }

  @Override
  protected void fail(Throwable error) {
    if (!done) {
      done = true;
      letGo();
      reader.onError(failed.apply(error));
    }
  }

  @Override
  protected void letGo() {
    answers.clear();
    if (in != null && !isLast) {
      in.cancel();
    }
  }
}
