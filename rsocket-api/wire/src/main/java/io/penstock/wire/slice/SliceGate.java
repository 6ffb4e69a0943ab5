package io.penstock.wire.slice;

import io.penstock.block.LayerSlice;
import io.penstock.carrier.UnlandedSlices;
import io.penstock.operator.Demand;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.credit.SerialSubscription;
import io.penstock.wire.credit.SilenceLimit;
import io.penstock.wire.report.StreamClock;
import io.rsocket.Payload;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;

/// Turns slices into payloads, one at a time, as fast as the peer's credit *and* the bytes that wait for the socket
/// allow.
///
/// RSocket queues what `request(n)` lets through; so a slice that the peer asked for waits here until the connection's
/// send window has room for its bytes, and the room is given back when the socket has released them. A stream that has
/// no slice to send holds no room. A stream whose slices are references does not complete before its receiver has
/// landed them, or has cancelled. All state is touched by [#serial] steps only.
public final class SliceGate extends SerialSubscription implements CoreSubscriber<LayerSlice> {
  private final CoreSubscriber<? super Payload> actual;
  private final SliceFraming framing;
  private final StreamClock clock;
  private final InFlight inFlight;
  /// Ends a stream whose reader gives no credit, or takes nothing from its socket; null for no limit.
  private final @Nullable SilenceLimit stall;
  private final UnlandedSlices unlanded = new UnlandedSlices(() -> serial.run(this::proceed));
  private @Nullable Supplier<Payload> head;
  private @Nullable Subscription slices;
  /// A slice whose bytes wait for room.
  private @Nullable LayerSlice waiting;
  private Budget.@Nullable Place place;
  /// Whether a slice was requested and has not come.
  private boolean asked;
  private boolean ended;
  private long movedBytes;
  private long returnedBefore;

  private SliceGate(CoreSubscriber<? super Payload> actual, SliceFraming framing, @Nullable Supplier<Payload> head,
      InFlight inFlight, SilenceLimit.@Nullable Rule rule, StreamClock clock) {
    this.actual = actual;
    this.framing = framing;
    this.clock = clock;
    this.head = head;
    this.inFlight = inFlight;
    inFlight.keep(unlanded);
    this.stall = rule == null
        ? null
        : new SilenceLimit("credit, or slices to be taken or landed,", rule, serial, this::isOwed,
            this::moved);
  }

  /// Bytes of slices that credit released, and, while one waits for room, those that the socket takes of the
  /// connection.
  private long moved() {
    long returned = framing.sendWindow().returned();
    movedBytes += place == null ? 0 : returned - returnedBefore;
    returnedBefore = returned;
    return movedBytes;
  }

  /// @param slices requested one at a time; taken over, and owned by a scope of theirs
  /// @param head a payload that goes first, or null
  /// @param inFlight receives every slice handed to the socket and its release
  /// @param stall ends the stream when its reader stops it for as long; null for no limit
  /// @param clock receives the waits of the stream, and its end
  public static Flux<Payload> of(Flux<LayerSlice> slices, SliceFraming framing, @Nullable Supplier<Payload> head,
      InFlight inFlight, SilenceLimit.@Nullable Rule stall, StreamClock clock) {
    return Flux.from(subscriber -> slices
        .subscribe(new SliceGate(Operators.toCoreSubscriber(subscriber), framing, head, inFlight, stall, clock)));
  }

  /// Whether the reader owes credit, or its connection room in the send window, or the news that the last slices have
  /// landed.
  private boolean isOwed() {
    return !done && (requested == 0 || place != null || ended);
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    slices = subscription;
    actual.onSubscribe(this);
  }

  @Override
  public void onNext(LayerSlice slice) {
    serial.run(() -> arrived(slice));
  }

  @Override
  public void onError(Throwable error) {
    serial.run(() -> fail(error));
  }

  @Override
  public void onComplete() {
    serial.run(() -> {
      ended = true;
      proceed();
    });
  }

  @Override
  protected void proceed() {
    if (done) {
      return;
    }
    if (head != null && requested > 0) {
      Payload first = head.get();
      head = null;
      emit(first);
    }
    if (head == null && waiting == null && ended && unlanded.isEmpty()) {
      finish();
    } else if (requested > 0 && !asked && !ended && waiting == null && slices != null) {
      asked = true;
      slices.request(1);
    }
    watch();
  }

  private StreamClock.Wait waitsFor() {
    if (place != null) {
      return place.holder().culprit();
    } else if (requested == 0 || ended) {
      return StreamClock.Wait.PEER;
    }
    return asked ? StreamClock.Wait.TIER : StreamClock.Wait.NOTHING;
  }

  private void watch() {
    clock.waits(waitsFor());
    if (stall != null && !done) {
      stall.watch();
    }
  }

  private void arrived(LayerSlice slice) {
    if (done) {
      slice.close();
      return;
    }
    if (!asked || slice.bytes() > framing.maxSliceBytes()) {
      slice.close();
      throw new IllegalStateException(
          "slices must come one a request, of <= " + framing.maxSliceBytes() + " bytes (was " + slice + ", "
              + slice.bytes() + " bytes, " + (asked ? "asked for)" : "not asked for)"));
    }
    asked = false;
    waiting = slice;
    int bytes = slice.bytes();
    if (framing.sendWindow().tryAcquire(bytes)) {
      send(bytes);
    } else {
      place = framing.sendWindow().acquire(bytes, () -> serial.run(() -> send(bytes)), this::onError);
      place.onHolderChange(() -> serial.run(this::watch));
      watch();
    }
  }

  /// Sends the slice that waits; room for its bytes was taken.
  private void send(int bytes) {
    LayerSlice slice = waiting;
    movedBytes += place == null ? bytes : 0;
    place = null;
    waiting = null;
    if (slice == null || done) { // cancelled between its arrival and now
      framing.sendWindow().release(bytes);
      if (slice != null) {
        slice.close();
      }
      return;
    }
    try (slice) {
      emit(framing.encode(slice, unlanded, inFlight.enter(() -> framing.sendWindow().release(bytes))));
    }
    proceed();
  }

  private void emit(Payload payload) {
    requested = Demand.minus(requested, 1);
    actual.onNext(payload);
  }

  @Override
  protected void fail(Throwable error) {
    if (!done) {
      done = true;
      clock.ended(error);
      letGo();
      actual.onError(error);
    }
  }

  private void finish() {
    done = true;
    letGo();
    actual.onComplete();
  }

  @Override
  protected void letGo() {
    clock.ended(null);
    if (stall != null) {
      stall.stop();
    }
    if (slices != null && !ended) {
      slices.cancel();
    }
    if (place != null && place.cancel()) {
      place = null;
    }
    if (waiting != null) {
      waiting.close();
      waiting = null;
    }
    unlanded.close();
  }
}
