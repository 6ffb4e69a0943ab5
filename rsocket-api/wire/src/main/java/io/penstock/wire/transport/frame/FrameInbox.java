package io.penstock.wire.transport.frame;

import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.penstock.operator.Demand;
import io.penstock.operator.Failures;
import io.penstock.wire.transport.TransportFailure.ReceiveOverrunException;
import java.util.ArrayDeque;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;

/// Received frames on their way to the one subscriber.
///
/// | | |
/// |---|---|
/// | frames | borrowed: valid until `onNext` returns, retain what is kept |
/// | backpressure | without demand nothing is read; frames cut from the buffer wait, at most `maxBytes` of them |
/// | cancel | closes the connection: its reader has gone |
/// | threads | signals on the event loop; `request` and `cancel` from any thread |
/// | signals | completes when the connection is closed in order; else the cause that closed it |
///
/// One thread delivers, the event loop, so a flag is enough against nesting: no serial executor.
public final class FrameInbox extends Flux<ByteBuf> implements Subscription {
  private final EventLoop loop;
  private final long maxBytes;
  private final Runnable demandChanged;
  private final Runnable cancelled;
  private final Consumer<RuntimeException> broken;
  private final AtomicBoolean subscribed = new AtomicBoolean();

  private volatile @Nullable CoreSubscriber<? super ByteBuf> subscriber;
  // The rest belongs to the event loop.
  private final ArrayDeque<ByteBuf> waiting = new ArrayDeque<>();
  private long waitingBytes;
  private long demand;
  private boolean delivering;
  private boolean done;
  private boolean ended;
  private @Nullable Throwable end;

  /// @param demandChanged run on the loop after demand came or ran out
  /// @param cancelled run on the loop when the subscriber leaves
  /// @param broken receives an exception of the subscriber, or the error of a request for less than one frame, and ends
  ///     the connection with it: a throw would be lost where the request comes from code that swallows exceptions
  public FrameInbox(
      EventLoop loop, long maxBytes, Runnable demandChanged, Runnable cancelled, Consumer<RuntimeException> broken) {
    this.loop = loop;
    this.maxBytes = maxBytes;
    this.demandChanged = demandChanged;
    this.cancelled = cancelled;
    this.broken = broken;
  }

  @Override
  public void subscribe(CoreSubscriber<? super ByteBuf> actual) {
    if (!subscribed.compareAndSet(false, true)) {
      Operators.error(actual, new IllegalStateException("receive() already has its one subscriber"));
      return;
    }
    subscriber = actual;
    actual.onSubscribe(this);
    onLoop(this::tellEnd);
  }

  @Override
  public void request(long n) {
    onLoop(() -> addDemand(n));
  }

  @Override
  public void cancel() {
    onLoop(this::leave);
  }

  /// True while the subscriber wants more than it has got.
  public boolean hasDemand() {
    return demand > 0 && !done;
  }

  /// Whether a frame that is delivered now reaches the subscriber at once, with no other before it.
  public boolean isPassing() {
    return hasDemand() && !ended && subscriber != null && waiting.isEmpty();
  }

  /// Delivers a borrowed frame, or keeps it until there is demand.
  ///
  /// @throws ReceiveOverrunException if more than `maxBytes` would wait
  public void accept(ByteBuf frame) {
    if (done || ended) {
      return;
    }
    CoreSubscriber<? super ByteBuf> to = subscriber;
    if (to != null && demand > 0 && waiting.isEmpty()) {
      countDown();
      deliver(to, frame);
      return;
    }
    if (waitingBytes + frame.readableBytes() > maxBytes) {
      throw new ReceiveOverrunException(waitingBytes + frame.readableBytes(), maxBytes);
    }
    waitingBytes += frame.readableBytes();
    waiting.add(frame.retain());
  }

  /// Ends with `cause`, or in order without one; waiting frames are released. Idempotent.
  public void terminate(@Nullable Throwable cause) {
    if (!ended) {
      ended = true;
      end = cause;
    }
    releaseWaiting();
    tellEnd();
  }

  private void addDemand(long n) {
    if (n <= 0) {
      broken.accept(Demand.refusal(n));
      return;
    }
    demand = Demand.plus(demand, n);
    deliverWaiting();
    demandChanged.run();
  }

  private void deliverWaiting() {
    CoreSubscriber<? super ByteBuf> to = subscriber;
    if (delivering || to == null) {
      return;
    }
    delivering = true;
    try {
      while (demand > 0 && !done) {
        ByteBuf frame = waiting.poll();
        if (frame == null) {
          return;
        }
        waitingBytes -= frame.readableBytes();
        countDown();
        try {
          deliver(to, frame);
        } finally {
          frame.release();
        }
      }
    } finally {
      delivering = false;
    }
  }

  private void deliver(CoreSubscriber<? super ByteBuf> to, ByteBuf frame) {
    try {
      to.onNext(frame);
    } catch (RuntimeException | Error e) {
      broken.accept(Failures.unchecked(e));
    }
  }

  private void countDown() {
    if (demand != Long.MAX_VALUE) {
      demand--;
      if (demand == 0) {
        demandChanged.run();
      }
    }
  }

  private void tellEnd() {
    CoreSubscriber<? super ByteBuf> to = subscriber;
    if (to != null && ended && !done) {
      done = true;
      if (end == null) {
        to.onComplete();
      } else {
        to.onError(end);
      }
    }
  }

  private void leave() {
    if (!done) {
      done = true;
      releaseWaiting();
      cancelled.run();
    }
  }

  private void releaseWaiting() {
    for (ByteBuf frame = waiting.poll(); frame != null; frame = waiting.poll()) {
      frame.release();
    }
    waitingBytes = 0;
  }

  private void onLoop(Runnable step) {
    if (loop.inEventLoop()) {
      step.run();
      return;
    }
    try {
      loop.execute(step);
    } catch (RejectedExecutionException e) { // the loop ended after its channels did: no other thread is here
      step.run();
    }
  }
}
