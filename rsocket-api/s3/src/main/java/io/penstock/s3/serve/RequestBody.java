package io.penstock.s3.serve;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.util.concurrent.Future;
import io.penstock.s3.body.BodyChecks;
import io.penstock.s3.body.BodyDecoder;
import io.penstock.s3.object.Incoming;
import io.penstock.s3.reply.S3Exception;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.publisher.Sinks;

/// The body of one request: reads from the socket when its reader asks for more, and when it has no reader any more. A
/// subscriber written by hand, for each element has to stay in its buffer until the next is asked for, and every step
/// has to run in the event loop of the connection. Its reader takes each element there, too.
final class RequestBody extends Flux<MemorySegment> implements Incoming, Subscription {
  private final Channel channel;
  private final long length;
  private final BodyDecoder decoder;
  private final BodyChecks checks;
  private final LongSupplier nanos;
  private final long roomNanos;
  private final Runnable read;
  private final Sinks.One<Boolean> givenUp = Sinks.one();
  private final Sinks.Empty<Void> whole = Sinks.empty();
  private @Nullable CoreSubscriber<? super MemorySegment> reader;
  private @Nullable ByteBuf content;
  private @Nullable ByteBuf slice;
  private long demand;
  private boolean isPumping;
  private boolean isReading;
  private boolean isDropped;
  private boolean isLast;
  private boolean isDone;
  private long waitedNanos;
  private long waitsSince;
  private boolean waits;
  private @Nullable Future<?> timer;

  /// @param length of the object
  /// @param roomNanos for which the reader may take its time, all in all
  /// @param read has the connection read one more piece of the body
  RequestBody(Channel channel, long length, BodyDecoder decoder, BodyChecks checks, LongSupplier nanos, long roomNanos,
      Runnable read) {
    this.channel = channel;
    this.length = length;
    this.decoder = decoder;
    this.checks = checks;
    this.nanos = nanos;
    this.roomNanos = roomNanos;
    this.read = read;
    beginWait(); // for a reader
  }

  /// The request was answered: there is no more to wait for.
  void answered() {
    waits = false;
    cancelTimer();
  }

  @Override
  public long length() {
    return length;
  }

  @Override
  public Flux<MemorySegment> bytes() {
    return this;
  }

  @Override
  public Filling filling() {
    BodyFilling filling = new BodyFilling(channel.eventLoop(), length);
    subscribe(filling);
    return filling;
  }

  @Override
  public Mono<Boolean> givenUp() {
    return givenUp.asMono();
  }

  @Override
  public Mono<Void> whole() {
    return whole.asMono();
  }

  @Override
  public Map<String, String> compared() {
    return checks.compared();
  }

  /// Whether the last byte came, or the body ended with an error.
  boolean isDone() {
    return isDone;
  }

  /// Whether the client has to send more before anything goes on.
  boolean isReading() {
    return isReading;
  }

  @Override
  public void subscribe(CoreSubscriber<? super MemorySegment> actual) {
    inLoop(() -> {
      if (reader != null) {
        Operators.error(actual, new IllegalStateException("body must have one reader (had another)"));
        return;
      }
      reader = actual;
      actual.onSubscribe(this);
    });
  }

  private void inLoop(Runnable step) {
    if (channel.eventLoop().inEventLoop()) {
      step.run();
    } else {
      channel.eventLoop().execute(step);
    }
  }

  @Override
  public void request(long n) {
    inLoop(() -> {
      demand = Operators.addCap(demand, n);
      endWait();
      pump();
    });
  }

  @Override
  public void cancel() {
    inLoop(this::drop);
  }

  /// Reads what is left, and gives it to no one.
  void drop() {
    isDropped = true;
    releaseSlice();
    endWait();
    cancelTimer();
    pump();
  }

  /// A piece of the body; takes it over.
  void came(ByteBuf bytes, boolean last) {
    isReading = false;
    isLast = last;
    if (isDone) {
      bytes.release();
      return;
    }
    content = bytes;
    pump();
  }

  /// The body will not go on.
  void fail(Throwable failure) {
    if (!isDone) {
      isDone = true;
      releaseSlice();
      releaseContent();
      endWait();
      cancelTimer();
      whole.tryEmitError(failure);
      CoreSubscriber<? super MemorySegment> actual = reader;
      if (actual != null && !isDropped) {
        actual.onError(failure);
      }
    }
  }

  private void pump() {
    if (isPumping) {
      return;
    }
    isPumping = true;
    try {
      while (!isDone && (demand > 0 || isDropped) && step()) {
        // goes on
      }
    } catch (S3Exception refusal) {
      fail(refusal);
    } finally {
      isPumping = false;
    }
    if (!isDone && !isDropped && demand == 0) {
      beginWait();
    }
  }

  /// Gives one element; false if the socket has to give more first.
  private boolean step() {
    releaseSlice();
    ByteBuf from = content;
    ByteBuf next = from == null ? null : decoder.next(from);
    if (next == null) {
      releaseContent();
      if (isLast) {
        finish();
      } else if (!isReading) {
        isReading = true;
        read.run();
      }
      return content != null;
    }
    slice = next;
    ByteBuffer bytes = next.nioBuffer();
    checks.update(bytes.duplicate());
    CoreSubscriber<? super MemorySegment> actual = reader;
    if (!isDropped && actual != null) {
      demand--;
      actual.onNext(MemorySegment.ofBuffer(bytes));
    }
    return true;
  }

  private void finish() {
    checks.verify(decoder.end());
    isDone = true;
    releaseSlice();
    demand = 0;
    beginWait(); // for the last bytes to be stored
    whole.tryEmitEmpty();
    CoreSubscriber<? super MemorySegment> actual = reader;
    if (actual != null && !isDropped) {
      actual.onComplete();
    }
  }

  private void beginWait() {
    if (!waits && !isDropped) {
      waits = true;
      waitsSince = nanos.getAsLong();
      if (timer == null) {
        timer = channel.eventLoop().schedule(this::look, roomNanos - waitedNanos, TimeUnit.NANOSECONDS);
      }
    }
  }

  private void endWait() {
    if (waits) {
      waits = false;
      waitedNanos += nanos.getAsLong() - waitsSince;
    }
  }

  private void look() {
    timer = null;
    if (waits) {
      long left = roomNanos - waitedNanos - (nanos.getAsLong() - waitsSince);
      if (left <= 0) {
        givenUp.tryEmitValue(false);
      } else {
        timer = channel.eventLoop().schedule(this::look, left, TimeUnit.NANOSECONDS);
      }
    }
  }

  private void cancelTimer() {
    Future<?> running = timer;
    if (running != null) {
      running.cancel(false);
      timer = null;
    }
  }

  private void releaseSlice() {
    ByteBuf held = slice;
    if (held != null) {
      slice = null;
      held.release();
    }
  }

  private void releaseContent() {
    ByteBuf held = content;
    if (held != null) {
      content = null;
      held.release();
    }
  }
}
