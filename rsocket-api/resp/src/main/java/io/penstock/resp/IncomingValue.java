package io.penstock.resp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.EventExecutor;
import io.penstock.flow.ValueStore;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;

/// The bytes of a value on their way from a socket into the memory of a tier. A socket that reads into [#room(int)]
/// costs no copy. On the event loop of the channel; the tier may ask on any thread.
final class IncomingValue implements ValueStore.Filling {
  private final EventExecutor loop;
  private final Runnable asked;
  private @Nullable Filling filling;
  private final int length;
  private long filled;
  private long came;
  private long copied;
  /// Takes the end of the value.
  private @Nullable Filling last;
  private boolean isInside;

  /// @param length in bytes
  /// @param asked run on the loop when there is memory for the next bytes, unless it was given inside [#put]
  IncomingValue(EventExecutor loop, int length, Runnable asked) {
    this.loop = loop;
    this.length = length;
    this.asked = asked;
  }

  @Override
  public Mono<Void> fill(MemorySegment memory) {
    return fillLast(memory, memory);
  }

  @Override
  public Mono<Void> fillLast(MemorySegment memory, MemorySegment spare) {
    return new Mono<>() {
      @Override
      public void subscribe(CoreSubscriber<? super Void> subscriber) {
        Filling filling = new Filling(memory, spare, subscriber);
        subscriber.onSubscribe(filling);
        if (loop.inEventLoop()) {
          begin(filling);
        } else {
          loop.execute(() -> begin(filling));
        }
      }
    };
  }

  private void begin(Filling one) {
    if (one.isOver) {
      return;
    }
    filling = one;
    filled = 0;
    if (!isInside) {
      asked.run();
    }
  }

  @SuppressWarnings("ReferenceEquality") // a later call is another one
  private void forget(Filling one) {
    if (filling == one) {
      filling = null;
    } else if (last == one) {
      last = null;
    }
  }

  /// Memory that is being filled, and who waits for it.
  private final class Filling implements Subscription {
    private final MemorySegment memory;
    private final MemorySegment spare;
    private final CoreSubscriber<? super Void> subscriber;
    private volatile boolean isOver;

    Filling(MemorySegment memory, MemorySegment spare, CoreSubscriber<? super Void> subscriber) {
      this.memory = memory;
      this.spare = spare;
      this.subscriber = subscriber;
    }

    @Override
    public void request(long n) {
      // an end needs no demand
    }

    @Override
    public void cancel() {
      isOver = true;
      if (loop.inEventLoop()) {
        forget(this);
      } else {
        loop.execute(() -> forget(this));
      }
    }

    void end() {
      if (isOver) {
        return;
      }
      isOver = true;
      isInside = true;
      try {
        subscriber.onComplete();
      } finally {
        isInside = false;
      }
    }
  }

  /// Whether there is memory for the next bytes.
  boolean wants() {
    return filling != null;
  }

  /// Bytes that no socket had read to where they lie.
  long copied() {
    return copied;
  }

  /// The memory for the next bytes, for a socket to read into; null for none.
  ///
  /// @param behind bytes that may come behind those of the value: there is room for all of them, or for none
  ValueReads.@Nullable Room room(int behind) {
    Filling into = filling;
    if (into == null) {
      return null;
    }
    long wanted = into.memory.byteSize() - filled;
    long most = wanted + behind <= into.spare.byteSize() - filled ? wanted + behind : wanted;
    return new ValueReads.Room(into.spare.asSlice(filled, most).asByteBuffer(), (int) wanted);
  }

  /// Takes bytes of `piece`, as many as there is memory for; those that a socket read into [#room(int)] are where they
  /// belong.
  void put(ByteBuf piece) {
    Filling waiting = filling;
    if (waiting == null) {
      return;
    }
    MemorySegment into = waiting.memory;
    int bytes = (int) Math.min(piece.readableBytes(), into.byteSize() - filled);
    MemorySegment from = MemorySegment.ofBuffer(piece.nioBuffer(piece.readerIndex(), bytes));
    if (from.address() != into.address() + filled) {
      MemorySegment.copy(from, JAVA_BYTE, 0, into, JAVA_BYTE, filled, bytes);
      copied += bytes;
    }
    piece.skipBytes(bytes);
    filled += bytes;
    came += bytes;
    if (filled == into.byteSize()) {
      filling = null;
      if (came == length) {
        last = waiting;
      } else {
        waiting.end();
      }
    }
  }

  /// Makes the value visible: all of its request has come.
  void complete() {
    Filling waiting = last;
    if (waiting != null) {
      last = null;
      waiting.end();
    }
  }
}
