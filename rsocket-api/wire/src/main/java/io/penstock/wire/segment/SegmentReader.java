package io.penstock.wire.segment;

import io.netty.buffer.ByteBuf;
import io.penstock.operator.Serial;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.credit.SliceCredit;
import io.penstock.wire.report.LateErrors;
import io.penstock.wire.transfer.SegmentLink;
import io.rsocket.Payload;
import java.util.concurrent.CancellationException;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.util.context.Context;

/// The receiving end of one read: gives credit for what it has budget for, and lands slices. All state is touched by
/// [#serial] steps only.
public final class SegmentReader implements CoreSubscriber<Payload>, SegmentLink.Operation {
  private final SegmentLanding landing;
  private final UnaryOperator<Throwable> errors;
  private final SegmentLink.Ending ending;
  private final int creditSlices;
  private final Serial serial = new Serial(this::finish);
  private final SliceCredit credit;
  private @Nullable Subscription in;
  private boolean done;

  /// @param sliceBytes charge of a slice
  /// @param errors names errors of the wire
  public SegmentReader(SegmentLanding landing, Budget budget, int sliceBytes, int creditSlices,
      UnaryOperator<Throwable> errors, SegmentLink.Ending ending) {
    this.landing = landing;
    this.creditSlices = Math.min(creditSlices, SharedSlices.MOST_UNLANDED);
    this.errors = errors;
    this.ending = ending;
    this.credit = new SliceCredit(budget, sliceBytes, serial, this::proceed);
  }

  @Override
  public Context currentContext() {
    return LateErrors.ignored();
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    serial.run(() -> {
      in = subscription;
      if (done) {
        subscription.cancel();
      } else {
        credit.from(subscription);
        proceed();
      }
    });
  }

  @Override
  public void onNext(Payload payload) {
    serial.run(() -> {
      if (done) {
        payload.release();
        return;
      }
      credit.spend(payload, this::land);
      if (landing.isWhole()) {
        if (in != null && landing.sharedBytes() > 0) {
          in.request(SharedSlices.MOST_UNLANDED); // so the peer knows that all have landed, and completes the stream
        }
        end(null);
      } else {
        proceed();
      }
    });
  }

  private boolean land(ByteBuf data) {
    landing.land(data);
    return true;
  }

  @Override
  public void onError(Throwable error) {
    serial.run(() -> end(errors.apply(error)));
  }

  @Override
  public void onComplete() {
    serial.run(() -> {
      if (!done) {
        end(landing.cut());
      }
    });
  }

  @Override
  public void abort() {
    serial.run(() -> finish(new CancellationException("read was stopped")));
  }

  @Override
  public long sharedBytes() {
    return landing.sharedBytes();
  }

  @Override
  public long verifyNanos() {
    return landing.verifyNanos();
  }

  /// Asks in batches: fewer frames.
  private void proceed() {
    long target = Math.min(landing.slicesLeft(), creditSlices);
    if (!done && (credit.outstanding() == 0 || credit.outstanding() <= target / 2)) {
      credit.raise(target);
    }
  }

  /// Ends with an error of this side.
  private void finish(Throwable error) {
    if (!done && in != null) {
      in.cancel();
    }
    end(error);
  }

  private void end(@Nullable Throwable error) {
    if (!done) {
      done = true;
      credit.stop();
      ending.ended(error);
    }
  }
}
