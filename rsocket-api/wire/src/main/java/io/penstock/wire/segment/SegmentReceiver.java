package io.penstock.wire.segment;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.credit.SerialSubscription;
import io.penstock.wire.credit.SilenceLimit;
import io.penstock.wire.credit.SliceCredit;
import io.penstock.wire.protocol.WireErrors;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.report.StreamClock;
import io.rsocket.Payload;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/// The receiving end of one write channel: gives credit, lands slices in the segment, and answers when the last one was
/// verified. All state is touched by [#serial] steps only.
public final class SegmentReceiver extends SerialSubscription implements CoreSubscriber<Payload> {
  private final CoreSubscriber<? super Payload> out;
  private final SegmentRoom room;
  private final Function<List<MemorySegment>, SegmentLanding> landings;
  private final Supplier<Payload> reply;
  private final Consumer<SegmentReceiver> over;
  private final SliceCredit credit;
  private final SilenceLimit silence;
  private final StreamClock clock;
  /// Null while there is no room.
  private @Nullable SegmentLanding landing;
  private boolean storing;
  private boolean stored;
  private @Nullable Subscription in;
  private boolean senderDone;

  /// @param landings where slices land in the memory of `room`
  /// @param sliceBytes what a slice is charged
  /// @param reply made once all bytes are in the segment
  /// @param clock hears what the channel waits for, what it moved, and of its end
  /// @param over told once when the channel uses the segment no more
  public SegmentReceiver(CoreSubscriber<? super Payload> out, SegmentRoom room,
      Function<List<MemorySegment>, SegmentLanding> landings, Budget budget, int sliceBytes,
      SilenceLimit.Rule stall, Supplier<Payload> reply, Consumer<SegmentReceiver> over, StreamClock clock) {
    this.out = out;
    this.clock = clock;
    this.room = room;
    this.landings = landings;
    this.reply = reply;
    this.over = over;
    this.credit = new SliceCredit(budget, sliceBytes, serial, this::proceed);
    this.silence = new SilenceLimit("slices that were asked for, or credit for the answer,", stall, serial,
        this::isOwed, () -> landing == null ? 0 : landing.landed());
  }

  private boolean isOwed() {
    return !done && (credit.outstanding() > 0 || (requested == 0 && stored));
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    in = subscription;
    credit.from(subscription);
    out.onSubscribe(this);
    serial.run(() -> room.open(memory -> serial.run(() -> opened(memory)), error -> serial.run(() -> fail(error))));
  }

  private void opened(List<MemorySegment> memory) {
    landing = landings.apply(memory);
    proceed();
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
    SegmentLanding to = requireNonNull(landing, "room before credit");
    long before = to.landed();
    long shared = to.sharedBytes();
    to.land(data);
    clock.count(to.landed() - before, to.sharedBytes() > shared);
    return true;
  }

  /// The sender has given up, or is gone: there is no one to answer, and RSocket cancels the answer next.
  @Override
  public void onError(Throwable error) {
    serial.run(() -> {
      senderDone = true;
      if (!done) {
        done = true;
        clock.ended(WireErrors.fromWire(error, "the sender"));
        end(() -> {});
      }
    });
  }

  @Override
  public void onComplete() {
    serial.run(() -> {
      senderDone = true;
      SegmentLanding to = landing;
      if (to == null) {
        fail(WireFormatException.slice("end", "after all bytes of the item", "before the first"));
      } else if (!to.isWhole()) {
        fail(to.cut());
      }
    });
  }

  @Override
  protected void proceed() {
    SegmentLanding to = landing;
    if (done || to == null) {
      return;
    }
    if (!to.isWhole()) {
      credit.raise(Math.min(to.slicesLeft(), SharedSlices.MOST_UNLANDED));
    } else if (!storing) {
      storing = true;
      room.store(() -> serial.run(this::stored), error -> serial.run(() -> fail(error)));
    } else if (stored && requested > 0) {
      done = true;
      out.onNext(reply.get());
      end(out::onComplete);
      return;
    }
    clock.waits(credit.isWaiting() ? credit.holder().culprit() : StreamClock.Wait.PEER);
    silence.watch();
  }

  private void stored() {
    stored = true;
    proceed();
  }

  /// The engine of the sender has a later connection.
  void end() {
    serial.run(() -> fail(WireFormatException.request("connection", "the latest of its engine", "an earlier one")));
  }

  private void end(Runnable last) {
    try {
      clock.ended(null);
      if (in != null && !senderDone) {
        in.cancel();
      }
      room.leave();
      silence.stop();
      credit.stop();
    } finally {
      last.run();
      over.accept(this);
    }
  }

  @Override
  protected void fail(Throwable error) {
    if (!done) {
      done = true;
      clock.ended(error);
      end(() -> out.onError(error));
    }
  }

  @Override
  protected void letGo() {
    end(() -> {});
  }
}
