package io.penstock.wire.transport.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.DuplexChannel;
import io.penstock.wire.transport.ConnectionListener.FrameListener;
import io.penstock.wire.transport.frame.SendQueue;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Moves frames from the [SendQueue] to the channel while that is writable, each as its header and the frame
/// itself, one flush for all that is at hand. A frame with a part on the heap is copied by the channel. Headers and
/// short frames are copied together: each buffer that the channel takes costs more than the copy.
///
/// Bulk that a task on the event loop sends goes out at once, so that the peer works on a slice while the next one is
/// made; small frames go out together after the task. One task sends no more than [#BURST_BYTES] so, and then no more
/// than the queue holds: an endless source with endless credit and a quick reader would hold the loop for ever, and no
/// cancel would be heard.
///
/// All of it runs on the event loop, but for [#wake] and the gauge, which any thread calls.
final class FramePump {
  private static final int BURST_BYTES = 8 << 20;
  /// A frame that is worth a system call of its own.
  private static final int BULK_BYTES = 64 << 10;
  /// A frame that is copied behind its header.
  private static final int SHORT_BYTES = 512;
  /// Maximum number of bytes that are copied together.
  private static final int MOST_TOGETHER = 4 << 10;

  private final Channel channel;
  private final Framing framing;
  private final SendQueue queue;
  private final Executor loop;
  private final Consumer<Throwable> broken;
  private final @Nullable FrameListener frames;
  private final NextFrame next;
  private volatile long writtenBytes;
  // The rest belongs to the event loop.
  private @Nullable ChannelHandlerContext context;
  /// Headers and short frames that were moved and not written; null between drains.
  private @Nullable ByteBuf together;
  /// Bytes of frames that this task sent without waiting for its end.
  private long atOnce;
  private boolean reading;
  private boolean drainAfterRead;
  private boolean draining;
  private boolean outputShut;

  /// @param loop runs a task on the channel's event loop, after the one that runs there now
  /// @param broken closes the channel: a frame is lost, so nothing may follow it
  /// @param frames sees each frame that is sent; null for none
  /// @param next sees them too, and hears when all that was at hand is written
  FramePump(Channel channel, Framing framing, SendQueue queue, Executor loop, Consumer<Throwable> broken,
      @Nullable FrameListener frames, NextFrame next) {
    this.frames = frames;
    this.next = next;
    this.channel = channel;
    this.framing = framing;
    this.queue = queue;
    this.loop = loop;
    this.broken = broken;
  }

  void attach(ChannelHandlerContext context) {
    this.context = context;
  }

  /// Bytes handed to the channel, length headers included.
  long writtenBytes() {
    return writtenBytes;
  }

  /// Called when the queue wants to be emptied.
  ///
  /// @param frameBytes of the frame that was offered, 0 if none
  void wake(int frameBytes) {
    if (!channel.eventLoop().inEventLoop()) {
      loop.execute(this::drain);
    } else if (frameBytes >= BULK_BYTES && atOnce < BURST_BYTES && !draining) {
      sendAtOnce(frameBytes);
    } else if (reading) {
      drainAfterRead = true;
    } else {
      loop.execute(this::drain); // what else this task sends shares the flush
    }
  }

  private void sendAtOnce(int frameBytes) {
    if (atOnce == 0) {
      loop.execute(() -> atOnce = 0);
    }
    atOnce += frameBytes;
    drain();
  }

  /// Small frames that are sent from now on wait for [#readEnds].
  void readBegins() {
    reading = true;
  }

  void readEnds() {
    reading = false;
    if (drainAfterRead) {
      drainAfterRead = false;
      drain();
    }
  }

  /// Sends waiting frames, as far as the channel takes them.
  void drain() {
    ChannelHandlerContext to = context;
    if (draining || to == null) {
      return;
    }
    draining = true;
    try {
      drain(to);
    } finally {
      draining = false;
    }
  }

  private void drain(ChannelHandlerContext to) {
    for (long burst = 0; channel.isWritable();) {
      if (burst > BURST_BYTES) {
        loop.execute(this::drain); // let the loop read: a cancel or a keep-alive may be waiting
        return;
      }
      long moved = moveWritable(to);
      burst += Math.abs(moved);
      to.flush();
      next.moved(Math.abs(moved));
      if (moved <= 0) {
        next.await();
        return;
      }
    }
  }

  /// Moves frames until the channel is full (bytes moved) or the queue is empty (bytes moved, negated).
  private long moveWritable(ChannelHandlerContext to) {
    long moved = 0;
    while (channel.isWritable()) {
      ByteBuf frame = queue.poll();
      if (frame == null) {
        writeTogether(to);
        if (queue.isEnding()) {
          shutOutput(to);
        }
        writtenBytes = writtenBytes() + moved;
        return -moved;
      }
      int size = frame.readableBytes();
      try {
        next.passes(frame);
        if (frames != null) {
          frames.sent(frame);
        }
        move(to, frame, size);
      } catch (Throwable e) { // no memory, even for so little, or a listener that failed
        frame.release();
        queue.close();
        broken.accept(e);
        break;
      }
      moved += SendQueue.HEADER_BYTES + size;
    }
    writeTogether(to);
    writtenBytes = writtenBytes() + moved;
    return moved;
  }

  /// Takes `frame` over, unless it throws.
  private void move(ChannelHandlerContext to, ByteBuf frame, int size) {
    boolean isShort = size <= SHORT_BYTES;
    int copied = Framing.MOST_HEADER_BYTES + (isShort ? size : 0);
    ByteBuf header = together;
    if (header != null && header.writableBytes() < copied) {
      writeTogether(to);
      header = null;
    }
    if (header == null) {
      int waiting = (int) Math.min(queue.bytes(), MOST_TOGETHER);
      header = channel.alloc().directBuffer(Math.max(copied, isShort ? waiting : 0));
      together = header;
    }
    framing.writeHeader(header, size);
    if (isShort) {
      frame.readBytes(header, size); // part by part; the other way round would join them first
      frame.release();
    } else {
      writeTogether(to);
      write(to, frame);
    }
  }

  /// Writes the copied frames.
  private void writeTogether(ChannelHandlerContext to) {
    ByteBuf copied = together;
    if (copied != null) {
      together = null;
      write(to, copied);
    }
  }

  /// A write that fails closes the channel by itself, so its result is not awaited.
  private static void write(ChannelHandlerContext to, ByteBuf bytes) {
    ChannelFuture unused = to.write(bytes, to.voidPromise());
  }

  private void shutOutput(ChannelHandlerContext to) {
    if (!outputShut) {
      outputShut = true;
      to.write(framing.end(channel.alloc())).addListener(flushed -> {
        if (flushed.isSuccess() && channel instanceof DuplexChannel duplex) {
          TlsStart.endOutput(channel);
          ChannelFuture unused = duplex.shutdownOutput();
        } else {
          ChannelFuture unused = channel.close();
        }
      });
    }
  }
}
