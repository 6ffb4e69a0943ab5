package io.penstock.wire;

import io.netty.buffer.ByteBuf;
import io.rsocket.Payload;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/// The receiving end of one write channel: gives credit, lands slices in the segment, and answers when the last one was
/// verified. All state is touched by [#serial] steps only.
final class SegmentReceiver extends SerialSubscription implements CoreSubscriber<Payload> {
  private static final int CREDIT_SLICES = 16;

  private final CoreSubscriber<? super Payload> out;
  private final SegmentLanding landing;
  private final Supplier<Payload> reply;
  private final Consumer<SegmentReceiver> over;
  private final SliceCredit credit;
  private final SilenceLimit silence;
  private @Nullable Subscription in;
  private boolean senderDone;

  /// @param sliceBytes what a slice is charged
  /// @param reply made once all bytes are in the segment
  /// @param over told once when the channel uses the segment no more
  SegmentReceiver(CoreSubscriber<? super Payload> out, SegmentLanding landing, Budget budget, int sliceBytes,
      SilenceLimit.Rule stall, Supplier<Payload> reply, Consumer<SegmentReceiver> over) {
    this.out = out;
    this.landing = landing;
    this.reply = reply;
    this.over = over;
    this.credit = new SliceCredit(budget, sliceBytes, serial, this::proceed);
    this.silence = new SilenceLimit("slices that were asked for, or credit for the answer,", stall, serial,
        this::isOwed, landing::landed);
  }

  private boolean isOwed() {
    return !done && (credit.outstanding() > 0 || (requested == 0 && landing.isWhole()));
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    in = subscription;
    credit.from(subscription);
    out.onSubscribe(this);
    serial.run(this::proceed);
  }

  @Override
  public void onNext(Payload payload) {
    serial.run(() -> {
      if (done) { // its charge was refunded when the channel stopped
        payload.release();
        return;
      }
      credit.spend(payload, this::land);
      proceed();
    });
  }

  private boolean land(ByteBuf data) {
    landing.land(data);
    return true;
  }

  @Override
  public void onError(Throwable error) {
    serial.run(() -> {
      senderDone = true;
      fail(WireErrors.fromWire(error, "the sender"));
    });
  }

  @Override
  public void onComplete() {
    serial.run(() -> {
      senderDone = true;
      if (!landing.isWhole()) {
        fail(landing.cut());
      }
    });
  }

  @Override
  void proceed() {
    if (done) {
      return;
    }
    if (!landing.isWhole()) {
      credit.raise(Math.min(landing.slicesLeft(), CREDIT_SLICES));
    } else if (requested > 0) {
      done = true;
      out.onNext(reply.get());
      end(out::onComplete);
      return;
    }
    silence.watch();
  }

  /// The engine of the sender has a later connection.
  void end() {
    serial.run(() -> fail(WireFormatException.request("connection", "the last of its engine", "an earlier one")));
  }

  private void end(Runnable last) {
    try {
      if (in != null && !senderDone) {
        in.cancel();
      }
      silence.stop();
      credit.stop();
    } finally {
      last.run();
      over.accept(this);
    }
  }

  @Override
  void fail(Throwable error) {
    if (!done) {
      done = true;
      end(() -> out.onError(error));
    }
  }

  @Override
  void letGo() {
    end(() -> {});
  }
}
