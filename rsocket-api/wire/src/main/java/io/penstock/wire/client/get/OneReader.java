package io.penstock.wire.client.get;

import io.penstock.operator.Demand;
import io.penstock.wire.credit.SerialSubscription;
import io.penstock.wire.slice.LandedSlice;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/// The slices of a lease for its one reader, who may come before or after its end.
abstract class OneReader extends SerialSubscription implements LandedStream {
  private final int startLayer;
  /// Touched by steps only, as is `failure`.
  protected @Nullable CoreSubscriber<? super LandedSlice> reader;
  /// Why the stream ended; null while it has not, or if its reader ended it.
  protected @Nullable Throwable failure;

  OneReader(int startLayer) {
    this.startLayer = startLayer;
  }

  @Override
  public final int startLayer() {
    return startLayer;
  }

  @Override
  public final void read(CoreSubscriber<? super LandedSlice> subscriber) {
    serial.run(() -> {
      if (reader != null) {
        Operators.error(subscriber, new IllegalStateException("lease must be read once (was read before)"));
        return;
      }
      reader = subscriber;
      subscriber.onSubscribe(this);
      if (done) {
        subscriber.onError(failure == null ? GetReceiver.leaseEnded() : failure);
      }
      proceed();
    });
  }

  @Override
  public final void end() {
    serial.run(() -> {
      if (!done) { // after most of them: an error takes longer than the rest of an end
        fail(GetReceiver.leaseEnded());
      }
    });
  }

  @Override
  protected final RuntimeException misrequest(long n) {
    return Demand.refusal(n);
  }
}
