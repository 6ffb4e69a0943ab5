package io.penstock.s3.serve;

import io.netty.channel.EventLoop;
import io.penstock.s3.object.Incoming;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/// Copies the pieces of a body into the memory of a value, as there is some. Every copy runs in the event loop of the
/// connection, as everything that ends one does: so none touches a piece that is gone, or memory that is another's.
final class BodyFilling extends BaseSubscriber<MemorySegment> implements Incoming.Filling {
  private final EventLoop loop;
  private long left;
  /// What is left of the last piece.
  private @Nullable MemorySegment piece;
  private @Nullable MemorySegment memory;
  private long filled;
  private @Nullable MonoSink<Void> sink;
  /// Whether all of the body has come, and is what its client sent.
  private boolean isWhole;
  private @Nullable Throwable failure;

  /// @param length of the body, from 1 on
  BodyFilling(EventLoop loop, long length) {
    this.loop = loop;
    this.left = length;
  }

  @Override
  public Mono<Void> fill(MemorySegment memory) {
    return Mono.create(one -> inLoop(() -> begin(memory, one)));
  }

  private void inLoop(Runnable step) {
    if (loop.inEventLoop()) {
      step.run();
    } else {
      loop.execute(step);
    }
  }

  private void begin(MemorySegment into, MonoSink<Void> one) {
    Throwable broken = failure;
    if (broken != null) {
      one.error(broken);
      return;
    }
    memory = into;
    filled = 0;
    sink = one;
    one.onDispose(() -> inLoop(() -> forget(one)));
    copy();
  }

  @SuppressWarnings("ReferenceEquality") // a later call has another sink
  private void forget(MonoSink<Void> one) {
    if (sink == one) {
      sink = null;
      memory = null;
    }
  }

  /// Copies what has come, or asks for more.
  private void copy() {
    MemorySegment into = memory;
    MemorySegment from = piece;
    if (into == null) {
      return;
    } else if (from == null) {
      request(1);
      return;
    }
    long bytes = Math.min(from.byteSize(), into.byteSize() - filled);
    MemorySegment.copy(from, 0, into, filled, bytes);
    filled += bytes;
    left -= bytes;
    piece = bytes == from.byteSize() ? null : from.asSlice(bytes);
    if (filled < into.byteSize()) {
      request(1);
      return;
    }
    memory = null;
    if (left > 0 || isWhole) {
      end();
    } else {
      request(1); // for the end
    }
  }

  private void end() {
    MonoSink<Void> one = sink;
    if (one != null) {
      sink = null;
      one.success();
    }
  }

  @Override
  protected void hookOnSubscribe(Subscription subscription) {
    // asks when there is memory
  }

  @Override
  protected void hookOnNext(MemorySegment bytes) {
    piece = bytes;
    copy();
  }

  @Override
  protected void hookOnComplete() {
    isWhole = true;
    end();
  }

  @Override
  protected void hookOnError(Throwable broken) {
    failure = broken;
    MonoSink<Void> one = sink;
    if (one != null) {
      sink = null;
      memory = null;
      one.error(broken);
    }
  }
}
