package io.penstock.wire;

import io.netty.buffer.ByteBufAllocator;
import io.penstock.block.BlockLayout;
import io.penstock.block.BytePermit;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.Permits;
import io.penstock.block.SpaceId;
import io.rsocket.Payload;
import io.rsocket.util.ByteBufPayload;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;

/// Turns slices into payloads, one at a time, as fast as the peer's credit *and* the bytes that wait for the socket allow.
///
/// RSocket queues whatever `request(n)` lets through; so a slice is asked for only when the connection's send window has room for it,
/// and the room is given back when the socket has released the bytes. The payload holds its own shares of the blocks.
final class SliceGate implements CoreSubscriber<LayerSlice>, Subscription {
  /// What every slice of a connection is encoded with.
  record Framing(SpaceId space, BlockLayout layout, ByteBufAllocator allocator, int maxSliceBytes, Permits sendWindow) {
    Payload encode(LayerSlice slice, Runnable released) {
      SliceBuf bytes = new SliceBuf(allocator, slice.spans().size() + 2, released);
      try {
        bytes.addComponent(true, SliceHeader.encode(slice, space, layout, allocator));
        for (LayerSpan span : slice.spans()) {
          bytes.addComponent(true, new SpanBuf(allocator, span.share()));
        }
        return ByteBufPayload.create(bytes);
      } catch (RuntimeException e) {
        bytes.release();
        throw e;
      }
    }
  }

  private final CoreSubscriber<? super Payload> actual;
  private final Framing framing;
  private final InFlight inFlight;
  private final Serial serial = new Serial();
  private @Nullable Supplier<Payload> head;
  private @Nullable Subscription upstream;
  private Permits.@Nullable Ticket ticket;
  private @Nullable BytePermit permit;
  private long requested;
  private boolean asked;
  private boolean ended;
  private @Nullable Throwable failure;
  private volatile boolean done;

  private SliceGate(CoreSubscriber<? super Payload> actual, Framing framing, @Nullable Supplier<Payload> head, InFlight inFlight) {
    this.actual = actual;
    this.framing = framing;
    this.head = head;
    this.inFlight = inFlight;
  }

  /// @param head a payload that goes first, or null
  /// @param inFlight told of every slice handed to the socket and of its release
  static Flux<Payload> of(Flux<LayerSlice> slices, Framing framing, @Nullable Supplier<Payload> head, InFlight inFlight) {
    return Flux.from(subscriber ->
        slices.subscribe(new SliceGate(Operators.toCoreSubscriber(subscriber), framing, head, inFlight)));
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    upstream = subscription;
    actual.onSubscribe(this);
  }

  @Override
  public void request(long n) {
    serial.run(() -> {
      requested = Operators.addCap(requested, n);
      proceed();
    });
  }

  @Override
  public void cancel() {
    done = true;
    serial.run(this::stop);
  }

  @Override
  public void onNext(LayerSlice slice) {
    serial.run(() -> forward(slice));
  }

  @Override
  public void onError(Throwable error) {
    serial.run(() -> {
      ended = true;
      failure = error;
      proceed();
    });
  }

  @Override
  public void onComplete() {
    serial.run(() -> {
      ended = true;
      proceed();
    });
  }

  private void proceed() {
    if (done) {
      return;
    }
    if (head != null && requested > 0) {
      Payload first = head.get();
      head = null;
      emit(first);
    }
    if (ended && head == null) {
      finish();
    } else if (requested > 0 && !asked && !ended) {
      ask();
    }
  }

  private void ask() {
    if (permit != null) {
      asked = true;
      if (upstream != null) {
        upstream.request(1);
      }
    } else if (ticket == null) {
      try {
        ticket = framing.sendWindow().acquire(framing.maxSliceBytes(), () -> serial.run(this::granted));
      } catch (RuntimeException e) {
        fail(e);
      }
    }
  }

  private void granted() {
    ticket = null;
    permit = new BytePermit(framing.sendWindow(), framing.maxSliceBytes());
    if (done) {
      stop();
    } else {
      proceed();
    }
  }

  private void forward(LayerSlice slice) {
    BytePermit held = permit;
    asked = false;
    permit = null;
    if (done || held == null) {
      slice.close();
      if (held != null) {
        held.close();
      }
      return;
    }
    try (slice) {
      if (slice.bytes() < held.left()) {
        held.refund(held.left() - slice.bytes());
      }
      emit(framing.encode(slice, inFlight.enter(held)));
    } catch (RuntimeException e) {
      held.close();
      fail(e);
      return;
    }
    proceed();
  }

  private void emit(Payload payload) {
    if (requested != Long.MAX_VALUE) {
      requested--;
    }
    actual.onNext(payload);
  }

  private void fail(Throwable error) {
    ended = true;
    failure = error;
    if (upstream != null) {
      upstream.cancel();
    }
    finish();
  }

  private void finish() {
    done = true;
    release();
    if (failure != null) {
      actual.onError(failure);
    } else {
      actual.onComplete();
    }
  }

  private void stop() {
    if (upstream != null) {
      upstream.cancel();
    }
    release();
  }

  private void release() {
    if (ticket != null && ticket.cancel()) {
      ticket = null;
    }
    if (permit != null) {
      permit.close();
      permit = null;
    }
  }
}
