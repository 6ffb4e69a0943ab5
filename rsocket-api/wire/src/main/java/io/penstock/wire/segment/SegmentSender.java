package io.penstock.wire.segment;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.penstock.check.Checksum;
import io.penstock.operator.Demand;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.credit.SerialSubscription;
import io.penstock.wire.credit.SilenceLimit;
import io.penstock.wire.protocol.SegmentMessages;
import io.penstock.wire.protocol.SegmentSlice;
import io.penstock.wire.report.StreamClock;
import io.penstock.wire.segment.SharedSlices.SharedSlice;
import io.penstock.wire.slice.InFlight;
import io.penstock.wire.slice.SliceBuf;
import io.rsocket.Payload;
import io.rsocket.util.ByteBufPayload;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.function.Supplier;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/// Sends the bytes of one item, slice by slice, as fast as the peer's credit *and* the bytes that wait for the socket
/// allow; what `SliceGate` is for blocks. The memory is wrapped, not copied. One subscriber. All state is touched by
/// [#serial] steps only.
///
/// The bytes of a slice in shared memory stay as they are until the receiver has landed it: its credit tells, for it
/// never has more than [SharedSlices#MOST_UNLANDED] slices that were asked for and have not landed. When the last one
/// has landed, it answers a write, and asks for as many slices of a read.
public final class SegmentSender extends SerialSubscription implements Publisher<Payload> {
  /// Settings for sending one item.
  ///
  /// @param request of the item
  /// @param window pays for the bytes that the socket has not released
  /// @param stall ends the stream when its reader stops it for as long; null for no limit
  /// @param clock receives the waits of the stream, its bytes, and its end
  /// @param shared null if all bytes go in frames
  public record Setting(SegmentMessages.ItemRequest request, Budget window, ByteBufAllocator allocator,
      SilenceLimit.@Nullable Rule stall, StreamClock clock, @Nullable SharedSlices shared) {}

  /// A slice in shared memory.
  ///
  /// @param number among the slices of the item, from 1 on
  private record Unlanded(long number, SharedSlice slice, Runnable released) {
    void release(boolean landed) {
      slice.release(landed);
      released.run();
    }
  }

  private final Setting setting;
  private final PieceCursor from;
  /// Receives each slice, and the end of slices.
  private final InFlight inFlight;
  private final @Nullable SilenceLimit silence;
  /// Whether the receiver answers once it has all.
  private final boolean isAnswered;
  private final Deque<Unlanded> unlanded = new ArrayDeque<>(0);
  private @Nullable Supplier<Payload> head;
  private @Nullable CoreSubscriber<? super Payload> actual;
  private Budget.@Nullable Place place;
  private long movedBytes;
  private long returnedBefore;
  private long sentSlices;
  private long landedBytes;
  private long sharedBytes;

  /// @param head the payload that opens a write and goes first; null for a read
  public SegmentSender(List<MemorySegment> pieces, Setting setting, InFlight inFlight,
      @Nullable Supplier<Payload> head) {
    this.from = new PieceCursor(pieces);
    this.setting = setting;
    this.inFlight = inFlight;
    this.head = head;
    this.isAnswered = head != null;
    this.silence = setting.stall() == null
        ? null
        : new SilenceLimit("credit, or slices to be taken,", setting.stall(), serial, this::isOwed, this::moved);
  }

  @Override
  public void subscribe(Subscriber<? super Payload> subscriber) {
    CoreSubscriber<? super Payload> one = Operators.toCoreSubscriber(subscriber);
    serial.run(() -> {
      if (done || actual != null) {
        Operators.error(one, new CancellationException("item has ended"));
        return;
      }
      actual = one;
      one.onSubscribe(this);
    });
  }

  private boolean isOwed() {
    return !done && (requested == 0 || place != null || from.left() == 0);
  }

  /// Bytes of slices that went as references.
  public long sharedBytes() {
    return sharedBytes;
  }

  private long moved() {
    long returned = setting.window().returned();
    movedBytes += place == null ? 0 : returned - returnedBefore;
    returnedBefore = returned;
    return movedBytes + landedBytes;
  }

  @Override
  protected void proceed() {
    Supplier<Payload> first = head;
    if (!done && first != null && requested > 0) {
      head = null;
      emit(first.get());
    }
    releaseLanded();
    while (!done && head == null && place == null && requested > 0 && from.left() > 0) {
      int bytes = (int) Math.min(setting.request().maxSliceBytes(), from.left());
      if (setting.window().tryAcquire(bytes)) {
        movedBytes += bytes;
        send(bytes);
      } else {
        place = setting.window().acquire(bytes, () -> serial.run(() -> granted(bytes)),
            refusal -> serial.run(() -> fail(refusal)));
        place.onHolderChange(() -> serial.run(this::proceed));
      }
    }
    if (!done && head == null && from.left() == 0 && (isAnswered || unlanded.isEmpty())) {
      finish();
    } else if (!done && silence != null) {
      setting.clock().waits(place == null ? StreamClock.Wait.PEER : place.holder().culprit());
      silence.watch();
    }
  }

  private void granted(int bytes) {
    place = null;
    if (done) {
      setting.window().release(bytes);
    } else {
      send(bytes);
      proceed();
    }
  }

  /// Sends the next slice; room for its bytes was taken.
  private void send(int bytes) {
    long offset = setting.request().offset() + from.position();
    List<MemorySegment> parts = new ArrayList<>(2);
    from.next(bytes, parts::add);
    sentSlices++;
    SliceBuf slice = new SliceBuf(setting.allocator(), parts.size() + 2,
        inFlight.enter(() -> setting.window().release(bytes)));
    boolean refers;
    try {
      SharedSlice shared = setting.shared() == null ? null : setting.shared().offer(parts, bytes);
      refers = shared != null;
      if (shared == null) {
        fill(slice, parts, offset, bytes);
      } else {
        refer(slice, shared, offset);
      }
    } catch (Throwable e) { // memory may run out, and the caller may have freed its own
      slice.release();
      throw e;
    }
    sharedBytes += refers ? bytes : 0;
    setting.clock().count(bytes, refers);
    emit(ByteBufPayload.create(slice));
  }

  private void fill(SliceBuf slice, List<MemorySegment> parts, long offset, int bytes) {
    SegmentMessages.ItemRequest request = setting.request();
    CRC32C crc = new CRC32C();
    parts.forEach(part -> crc.update(part.asByteBuffer()));
    SegmentSlice header = new SegmentSlice(request.item(), request.generation(), request.segment(), offset, bytes,
        (int) crc.getValue());
    slice.addComponent(true, header.encode(setting.allocator()));
    parts.forEach(part -> slice.addComponent(true, Unpooled.wrappedBuffer(part.asByteBuffer())));
  }

  private void refer(SliceBuf slice, SharedSlice shared, long offset) {
    SegmentMessages.ItemRequest request = setting.request();
    unlanded.add(new Unlanded(sentSlices, shared, inFlight.enter(() -> {})));
    SegmentSlice header = new SegmentSlice(request.item(), request.generation(), request.segment(), offset,
        (int) shared.bytes().byteSize(), Checksum.of(shared.bytes()), true);
    slice.addComponent(true, header.encode(setting.allocator(), shared.reference()));
  }

  /// Releases slices that the receiver has landed, by its credit.
  private void releaseLanded() {
    long landed = Operators.addCap(sentSlices, requested) - SharedSlices.MOST_UNLANDED;
    while (head == null && !unlanded.isEmpty() && unlanded.peek().number() <= landed) {
      Unlanded slice = unlanded.remove();
      landedBytes += slice.slice().bytes().byteSize();
      slice.release(true);
    }
  }

  /// Gives shared memory back. Idempotent.
  ///
  /// @param landed whether the receiver is known to read it no more
  public void release(boolean landed) {
    serial.run(() -> {
      while (!unlanded.isEmpty()) {
        unlanded.remove().release(landed);
      }
    });
  }

  /// Sends no more slices. If the receiver may read memory of the item, the stream ends in order, so that it answers.
  ///
  /// @param quiet runs if it reads none
  public void stop(Runnable quiet) {
    serial.run(() -> {
      if (unlanded.isEmpty()) {
        quiet.run();
      } else if (!done) {
        finish();
      }
    });
  }

  private void emit(Payload payload) {
    requested = Demand.minus(requested, 1);
    requireNonNull(actual).onNext(payload);
  }

  private void finish() {
    done = true;
    stopWaiting();
    if (unlanded.isEmpty()) {
      inFlight.over();
    }
    requireNonNull(actual).onComplete();
  }

  @Override
  protected void fail(Throwable error) {
    if (!done) {
      done = true;
      setting.clock().ended(error);
      letGo();
      if (actual != null) {
        actual.onError(error);
      }
    }
  }

  @Override
  protected void letGo() {
    stopWaiting();
    release(false);
    inFlight.over();
  }

  private void stopWaiting() {
    setting.clock().ended(null);
    if (silence != null) {
      silence.stop();
    }
    if (place != null && place.cancel()) {
      place = null;
    }
  }
}
