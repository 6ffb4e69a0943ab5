package io.penstock.resp;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.EventExecutor;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;

/// The bytes of a value on their way from a socket, for one subscriber that takes them piece by piece. On the event loop
/// of the channel; the subscriber may ask on any thread.
final class IncomingValue extends Flux<MemorySegment> implements Subscription {
  private final EventExecutor loop;
  private final Runnable asked;
  private @Nullable CoreSubscriber<? super MemorySegment> subscriber;
  private @Nullable ByteBuf lent;
  private boolean wants;
  private boolean isOver;
  private boolean isInside;

  /// @param asked run on the loop when the next piece is wanted, unless that was asked for inside [#next]
  IncomingValue(EventExecutor loop, Runnable asked) {
    this.loop = loop;
    this.asked = asked;
  }

  @Override
  public void subscribe(CoreSubscriber<? super MemorySegment> subscriber) {
    this.subscriber = subscriber;
    subscriber.onSubscribe(this);
  }

  /// Whether a piece, or the end, may come now.
  boolean wants() {
    return wants && !isOver;
  }

  /// Hands on a piece; it is released when the next is wanted, or none.
  void next(ByteBuf piece) {
    wants = false;
    lent = piece;
    isInside = true;
    try {
      requireNonNull(subscriber, "subscriber").onNext(MemorySegment.ofBuffer(piece.nioBuffer()));
    } finally {
      isInside = false;
    }
  }

  /// Ends the value: all bytes have come.
  void complete() {
    if (!isOver) {
      isOver = true;
      requireNonNull(subscriber, "subscriber").onComplete();
    }
  }

  @Override
  public void request(long n) {
    if (loop.inEventLoop()) {
      more();
      if (!isInside) {
        asked.run();
      }
    } else {
      loop.execute(() -> {
        more();
        asked.run();
      });
    }
  }

  private void more() {
    release();
    wants = true;
  }

  @Override
  public void cancel() {
    if (loop.inEventLoop()) {
      over();
    } else {
      loop.execute(() -> {
        over();
        asked.run();
      });
    }
  }

  private void over() {
    isOver = true;
    release();
  }

  private void release() {
    ByteBuf before = lent;
    if (before != null) {
      lent = null;
      before.release();
    }
  }
}
