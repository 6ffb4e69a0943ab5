package io.penstock.wire.credit;

import io.netty.buffer.ByteBuf;
import io.penstock.operator.Serial;
import io.penstock.wire.protocol.WireFormatException;
import io.rsocket.Payload;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;

/// The credit that the receiver of one stream has given: each slice is charged to a byte budget at the negotiated
/// maximum before it is asked for, and refunded when it was dealt with, or will not be any more. So what is on its way
/// stays within the budget, over all streams that share it.
///
/// Waits in the budget's queue for one slice, and only while nothing is on its way. Every call, the turn that comes
/// included, is a step of the stream's [Serial].
public final class SliceCredit {
  private final Budget budget;
  private final int sliceBytes;
  private final Serial serial;
  private final Runnable proceed;
  private @Nullable Subscription sender;
  private Budget.@Nullable Place place;
  private long outstanding;
  private boolean firstDue;
  private boolean stopped;

  /// @param sliceBytes charge of a slice
  /// @param proceed a step of the stream, after a turn in the budget's queue
  public SliceCredit(Budget budget, int sliceBytes, Serial serial, Runnable proceed) {
    this.budget = budget;
    this.sliceBytes = sliceBytes;
    this.serial = serial;
    this.proceed = proceed;
  }

  /// Sets the sender of later requests.
  public void from(Subscription sender) {
    this.sender = sender;
  }

  /// Requests from `sender`, now and from now on: a first payload, which is not charged, and as many of `slices` as the
  /// budget has room for.
  public void open(Subscription sender, long slices) {
    this.sender = sender;
    firstDue = true;
    int granted = charge(slices);
    outstanding = granted;
    sender.request(1L + granted);
  }

  /// Whether it waits for bytes of the budget.
  public boolean isWaiting() {
    return place != null;
  }

  /// The party that holds what this waits for; [Budget.Holder#OTHERS] if it does not wait.
  public Budget.Holder holder() {
    return place == null ? Budget.Holder.OTHERS : place.holder();
  }

  /// Number of slices that were requested and have not arrived.
  public long outstanding() {
    return outstanding;
  }

  /// Asks for so many slices that `target` are on their way, as far as the budget has room.
  public void raise(long target) {
    if (stopped || place != null) {
      return;
    }
    int granted = charge(target - outstanding);
    if (granted > 0) {
      give(granted);
    } else if (outstanding == 0 && target > 0) {
      place = budget.acquire(sliceBytes, () -> serial.run(this::turn), refusal -> serial.run(() -> {
        throw refusal; // fails the stream
      }));
      place.onHolderChange(() -> serial.run(proceed));
    }
  }

  private int charge(long slices) {
    int granted = 0;
    while (granted < slices && budget.tryAcquire(sliceBytes)) {
      granted++;
    }
    return granted;
  }

  private void turn() {
    place = null;
    if (stopped) {
      budget.release(sliceBytes);
    } else {
      give(1);
      proceed.run();
    }
  }

  private void give(int slices) {
    outstanding += slices;
    if (sender != null) {
      sender.request(slices);
    }
  }

  /// Passes the payload to `land`, then releases it and returns the bytes of a slice to the budget.
  ///
  /// @throws WireFormatException if nothing was asked for
  public <T extends @Nullable Object> T spend(Payload payload, Function<ByteBuf, T> land) {
    boolean first = firstDue;
    firstDue = false;
    if (!first && outstanding == 0) {
      payload.release();
      throw WireFormatException.request("payloads", "<= the credit given", "one more");
    }
    outstanding -= first ? 0 : 1;
    try {
      return land.apply(payload.sliceData());
    } finally {
      payload.release();
      if (!first) {
        budget.release(sliceBytes);
      }
    }
  }

  /// Leaves the queue and refunds slices on their way, which do not land any more.
  public void stop() {
    stopped = true;
    if (place != null && place.cancel()) {
      place = null;
    }
    if (outstanding > 0) {
      budget.release(outstanding * sliceBytes);
      outstanding = 0;
    }
  }
}
