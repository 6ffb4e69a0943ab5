package io.penstock.wire.simulate;

import io.netty.buffer.ByteBuf;
import io.penstock.operator.Demand;
import io.penstock.operator.Failures;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;

/// Delivered frames on their way to the one subscriber; frames that it does not request stay in the sender's window.
final class SimulatedInbox extends Flux<ByteBuf> implements Subscription {
  private final IntConsumer taken;
  private final Runnable cancelled;
  private final Consumer<RuntimeException> broken;
  private final ArrayDeque<Arrived> waiting = new ArrayDeque<>();
  private @Nullable CoreSubscriber<? super ByteBuf> subscriber;
  private @Nullable Throwable end;
  private long demand;
  private boolean delivering;
  private boolean done;

  /// @param taken told the length of each frame that left
  /// @param cancelled run when the subscriber leaves
  /// @param broken ends the connection with what the subscriber threw, or with the error of a request for no frame
  SimulatedInbox(IntConsumer taken, Runnable cancelled, Consumer<RuntimeException> broken) {
    this.taken = taken;
    this.cancelled = cancelled;
    this.broken = broken;
  }

  @Override
  public void subscribe(CoreSubscriber<? super ByteBuf> actual) {
    if (subscriber != null) {
      Operators.error(actual, new IllegalStateException("receive() already has its one subscriber"));
      return;
    }
    subscriber = actual;
    actual.onSubscribe(this);
    tellEnd();
  }

  @Override
  public void request(long n) {
    if (n <= 0) {
      broken.accept(Demand.refusal(n));
    } else {
      demand = Demand.plus(demand, n);
      deliver();
    }
  }

  @Override
  public void cancel() {
    if (!done) {
      done = true;
      dropWaiting();
      cancelled.run();
    }
  }

  /// Takes ownership of `frame`.
  void accept(ByteBuf frame) {
    waiting.add(new Arrived(frame, frame.readableBytes()));
    deliver();
  }

  void dropWaiting() {
    for (Arrived arrived = waiting.poll(); arrived != null; arrived = waiting.poll()) {
      leave(arrived);
    }
  }

  void terminate(@Nullable Throwable cause) {
    if (end == null) {
      end = cause == null ? new ClosedChannelException() : cause;
    }
    dropWaiting();
    tellEnd();
  }

  private void deliver() {
    CoreSubscriber<? super ByteBuf> to = subscriber;
    if (delivering || to == null) {
      return;
    }
    delivering = true;
    try {
      while (demand > 0 && !done && !waiting.isEmpty()) {
        demand = Demand.minus(demand, 1);
        deliver(to, waiting.remove());
      }
    } finally {
      delivering = false;
    }
  }

  private void deliver(CoreSubscriber<? super ByteBuf> to, Arrived arrived) {
    try {
      to.onNext(arrived.frame);
    } catch (RuntimeException | Error e) {
      broken.accept(Failures.unchecked(e));
    } finally {
      leave(arrived);
    }
  }

  private void leave(Arrived arrived) {
    arrived.frame.release();
    taken.accept(arrived.bytes);
  }

  private void tellEnd() {
    CoreSubscriber<? super ByteBuf> to = subscriber;
    Throwable cause = end;
    if (to != null && cause != null && !done) {
      done = true;
      to.onError(cause);
    }
  }

  /// A frame and its length, which the reader's own reading does not change.
  private record Arrived(ByteBuf frame, int bytes) {}
}
