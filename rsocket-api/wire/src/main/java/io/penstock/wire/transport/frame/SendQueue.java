package io.penstock.wire.transport.frame;

import io.netty.buffer.ByteBuf;
import io.penstock.wire.transport.TransportFailure.SendQueueOverrunException;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/// Frames waiting for the socket: those of stream 0 first, then the others, each in order; bounded in bytes and frames.
///
/// Any thread offers, the event loop polls. Whatever is not handed out is released here, once. A plain lock: it is held
/// for some tens of nanoseconds a frame and makes bound, gauges and wake-up one consistent step. Shared with the
/// simulated transport, so that a simulation meets the same bound in the same order.
public final class SendQueue {
  /// Length header in front of every frame.
  public static final int HEADER_BYTES = 3;

  /// Result of an offer.
  public enum Offer {
    /// The frame waits; a sender is already on its way.
    QUEUED,
    /// The frame waits, and the caller must make sure that [#poll()] is called until it answers null.
    WAKE,
    /// The frame was released: the bound is reached.
    OVERRUN,
    /// The frame was released: the connection sends no more.
    CLOSED
  }

  private final long maxBytes;
  private final int maxFrames;
  private final ArrayDeque<ByteBuf> control = new ArrayDeque<>();
  private final ArrayDeque<ByteBuf> data = new ArrayDeque<>();
  private @Nullable ByteBuf last;
  private long bytes;
  private long peakBytes;
  private int frames;
  private boolean awake;
  private boolean ending;

  /// @param maxBytes most bytes that wait, length headers included
  /// @param maxFrames most frames that wait
  public SendQueue(long maxBytes, int maxFrames) {
    this.maxBytes = maxBytes;
    this.maxFrames = maxFrames;
  }

  /// Takes ownership of `frame`.
  public Offer offer(int streamId, ByteBuf frame) {
    Offer offer = tryAdd(streamId == 0 ? control : data, frame);
    if (offer == Offer.CLOSED || offer == Offer.OVERRUN) {
      frame.release();
    }
    return offer;
  }

  private synchronized Offer tryAdd(ArrayDeque<ByteBuf> line, ByteBuf frame) {
    if (ending) {
      return Offer.CLOSED;
    }
    long size = sizeOf(frame);
    if (size > maxBytes - bytes || frames >= maxFrames) {
      return Offer.OVERRUN;
    }
    line.add(frame);
    count(size, 1);
    return wake();
  }

  private void count(long size, int count) {
    bytes += size;
    frames += count;
    peakBytes = Math.max(peakBytes, bytes);
  }

  private Offer wake() {
    if (awake) {
      return Offer.QUEUED;
    }
    awake = true;
    return Offer.WAKE;
  }

  /// Takes no more frames; waiting frames are still handed out, `last` (owned by the queue from now on) after them.
  ///
  /// `last` is queued even if the queue is full, since it gives the peer the reason of the end.
  public Offer end(@Nullable ByteBuf last) {
    Offer offer = tryEnd(last);
    if (offer == Offer.CLOSED && last != null) {
      last.release();
    }
    return offer;
  }

  private synchronized Offer tryEnd(@Nullable ByteBuf frame) {
    if (ending) {
      return Offer.CLOSED;
    }
    ending = true;
    if (frame != null) {
      last = frame;
      count(sizeOf(frame), 1);
    }
    return wake();
  }

  /// Next frame, now the caller's, or null: the queue is empty and the next offer wakes a caller again.
  public synchronized @Nullable ByteBuf poll() {
    ByteBuf frame = control.poll();
    if (frame == null) {
      frame = data.poll();
    }
    if (frame == null) {
      frame = last;
      last = null;
    }
    if (frame == null) {
      awake = false;
      return null;
    }
    count(-sizeOf(frame), -1);
    return frame;
  }

  /// Releases everything that waits except the last frame, which `end` gave.
  public void dropWaiting() {
    ByteBuf[] dropped;
    synchronized (this) {
      dropped = new ByteBuf[control.size() + data.size()];
      int i = 0;
      for (ByteBuf frame = control.poll(); frame != null; frame = control.poll()) {
        dropped[i++] = frame;
      }
      for (ByteBuf frame = data.poll(); frame != null; frame = data.poll()) {
        dropped[i++] = frame;
      }
      bytes = last == null ? 0 : sizeOf(last);
      frames = last == null ? 0 : 1;
    }
    for (ByteBuf frame : dropped) {
      frame.release();
    }
  }

  /// Ends and releases everything; idempotent.
  public void close() {
    ByteBuf dropped;
    synchronized (this) {
      ending = true;
      dropped = last;
      last = null;
    }
    if (dropped != null) {
      dropped.release();
    }
    dropWaiting();
  }

  /// True once no frame is taken any more.
  public synchronized boolean isEnding() {
    return ending;
  }

  /// Bytes that wait, headers of frames included.
  public synchronized long bytes() {
    return bytes;
  }

  /// Frames that wait.
  public synchronized int frames() {
    return frames;
  }

  /// Highest number of bytes that waited.
  public synchronized long peakBytes() {
    return peakBytes;
  }

  /// Says which bound one more frame of `frameBytes` broke.
  public synchronized SendQueueOverrunException overrunBy(int frameBytes) {
    return new SendQueueOverrunException(bytes + HEADER_BYTES + frameBytes, maxBytes, frames + 1, maxFrames);
  }

  private static long sizeOf(ByteBuf frame) {
    return HEADER_BYTES + (long) frame.readableBytes();
  }
}
