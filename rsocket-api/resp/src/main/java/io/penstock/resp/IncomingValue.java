package io.penstock.resp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.EventExecutor;
import io.penstock.flow.ValueStore;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/// The bytes of a value on their way from a socket into the memory of a tier. A socket that reads into [#room()] costs
/// no copy. On the event loop of the channel; the tier may ask on any thread.
final class IncomingValue implements ValueStore.Filling {
  private final EventExecutor loop;
  private final Runnable asked;
  private @Nullable MemorySegment memory;
  private @Nullable MonoSink<Void> sink;
  private final int length;
  private long filled;
  private long came;
  /// Takes the end of the value.
  private @Nullable MonoSink<Void> last;
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
    return Mono.create(sink -> {
      if (loop.inEventLoop()) {
        begin(memory, sink);
      } else {
        loop.execute(() -> begin(memory, sink));
      }
    });
  }

  private void begin(MemorySegment into, MonoSink<Void> one) {
    memory = into;
    filled = 0;
    sink = one;
    one.onDispose(() -> ended(one));
    if (!isInside) {
      asked.run();
    }
  }

  private void ended(MonoSink<Void> one) {
    if (loop.inEventLoop()) {
      forget(one);
    } else {
      loop.execute(() -> forget(one));
    }
  }

  @SuppressWarnings("ReferenceEquality") // a later call has another sink
  private void forget(MonoSink<Void> one) {
    if (sink == one) {
      sink = null;
      memory = null;
    } else if (last == one) {
      last = null;
    }
  }

  /// Whether there is memory for the next bytes.
  boolean wants() {
    return memory != null;
  }

  /// The memory for the next bytes, for a socket to read into; null for none.
  @Nullable ByteBuffer room() {
    MemorySegment into = memory;
    return into == null ? null : into.asSlice(filled).asByteBuffer();
  }

  /// Takes bytes of `piece`, as many as there is memory for; those that a socket read into [#room()] are where they
  /// belong.
  void put(ByteBuf piece) {
    MemorySegment into = memory;
    MonoSink<Void> waiting = sink;
    if (into == null || waiting == null) {
      return;
    }
    int bytes = (int) Math.min(piece.readableBytes(), into.byteSize() - filled);
    MemorySegment from = MemorySegment.ofBuffer(piece.nioBuffer(piece.readerIndex(), bytes));
    if (from.address() != into.address() + filled) {
      MemorySegment.copy(from, JAVA_BYTE, 0, into, JAVA_BYTE, filled, bytes);
    }
    piece.skipBytes(bytes);
    filled += bytes;
    came += bytes;
    if (filled == into.byteSize()) {
      memory = null;
      sink = null;
      if (came == length) {
        last = waiting;
      } else {
        end(waiting);
      }
    }
  }

  /// Makes the value visible: all of its request has come.
  void complete() {
    MonoSink<Void> waiting = last;
    if (waiting != null) {
      last = null;
      end(waiting);
    }
  }

  private void end(MonoSink<Void> waiting) {
    isInside = true;
    try {
      waiting.success();
    } finally {
      isInside = false;
    }
  }
}
