package io.penstock.wire.server.call;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.penstock.operator.Demand;
import io.penstock.wire.credit.SerialSubscription;
import io.penstock.wire.slice.SliceBuf;
import io.rsocket.Payload;
import io.rsocket.util.ByteBufPayload;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;

/// Sends small replies of an endless stream, such as events. At most [#UNSENT] of them wait for the socket, however
/// many the peer requests at once; the others stay at the source, whose log is bounded.
///
/// @param <T> type of the replies
public final class ReplyGate<T> extends SerialSubscription implements CoreSubscriber<T> {
  /// Replies of one stream that may wait for the socket.
  static final int UNSENT = 256;

  private final CoreSubscriber<? super Payload> actual;
  private final Function<? super T, ByteBuf> encoder;
  private final ByteBufAllocator allocator;
  private @Nullable Subscription source;
  /// Asked of the source, or sent and not released by the socket.
  private int outstanding;

  private ReplyGate(CoreSubscriber<? super Payload> actual, Function<? super T, ByteBuf> encoder,
      ByteBufAllocator allocator) {
    this.actual = actual;
    this.encoder = encoder;
    this.allocator = allocator;
  }

  public static <T> Flux<Payload> of(Flux<T> source, Function<? super T, ByteBuf> encoder, ByteBufAllocator allocator) {
    return Flux.from(
        subscriber -> source.subscribe(new ReplyGate<T>(Operators.toCoreSubscriber(subscriber), encoder, allocator)));
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    source = subscription;
    actual.onSubscribe(this);
  }

  @Override
  public void onNext(T reply) {
    serial.run(() -> {
      if (!done) {
        SliceBuf bytes = new SliceBuf(allocator, 2, () -> serial.run(this::released));
        bytes.addComponent(true, encoder.apply(reply));
        actual.onNext(ByteBufPayload.create(bytes));
      }
    });
  }

  @Override
  public void onError(Throwable error) {
    serial.run(() -> fail(error));
  }

  @Override
  public void onComplete() {
    serial.run(() -> {
      if (!done) {
        done = true;
        actual.onComplete();
      }
    });
  }

  private void released() {
    outstanding--;
    proceed();
  }

  @Override
  protected void proceed() {
    if (done || source == null) {
      return;
    }
    long asked = Math.min(requested, UNSENT - outstanding);
    if (asked > 0) {
      outstanding += (int) asked;
      requested = Demand.minus(requested, asked);
      source.request(asked);
    }
  }

  @Override
  protected void fail(Throwable error) {
    if (!done) {
      done = true;
      letGo();
      actual.onError(error);
    }
  }

  @Override
  protected void letGo() {
    if (source != null) {
      source.cancel();
    }
  }
}
