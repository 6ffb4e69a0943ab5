package io.penstock.wire.client.get;

import io.penstock.block.BlockScope;
import io.penstock.operator.Demand;
import io.penstock.wire.credit.SerialSubscription;
import io.penstock.wire.report.StreamClock;
import io.penstock.wire.slice.LandedSlice;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/// Blocks that have all landed, in one slice, and wait for their reader.
final class LandedBlocks extends SerialSubscription implements LandedStream {
  private final int startLayer;
  private final BlockScope scope;
  private final StreamClock clock;
  /// Null if there are no blocks, and once it was emitted.
  private @Nullable LandedSlice slice;
  private @Nullable CoreSubscriber<? super LandedSlice> reader;
  private @Nullable Throwable failure;

  /// @param scope owns the drafts of `slice`; taken over
  /// @param clock receives the end
  /// @param slice null if there are no blocks
  LandedBlocks(int startLayer, BlockScope scope, StreamClock clock, @Nullable LandedSlice slice) {
    this.startLayer = startLayer;
    this.scope = scope;
    this.clock = clock;
    this.slice = slice;
  }

  @Override
  public int startLayer() {
    return startLayer;
  }

  @Override
  public void read(CoreSubscriber<? super LandedSlice> subscriber) {
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
  public void end() {
    serial.run(() -> {
      if (!done) {
        fail(GetReceiver.leaseEnded());
      }
    });
  }

  @Override
  protected RuntimeException misrequest(long n) {
    return Demand.refusal(n);
  }

  @Override
  protected void proceed() {
    CoreSubscriber<? super LandedSlice> to = reader;
    LandedSlice next = slice;
    if (done || to == null) {
      return;
    }
    if (next != null && requested > 0) {
      requested = Demand.minus(requested, 1);
      slice = null;
      to.onNext(next);
    }
    if (slice == null && !done) {
      done = true;
      letGo();
      to.onComplete();
    }
  }

  @Override
  protected void fail(Throwable error) {
    if (!done) {
      done = true;
      failure = error;
      letGo();
      if (reader != null) {
        reader.onError(error);
      }
    }
  }

  @Override
  protected void letGo() {
    clock.ended(failure instanceof CancellationException ? null : failure);
    scope.close();
  }
}
