package io.penstock.wire.transport.frame;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.penstock.wire.transport.ConnectionLimits;
import io.penstock.wire.transport.TransportFailure.FrameLengthException;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/// Cuts received bytes into frames. A frame that came in one receive buffer is a slice of it. Any other frame has one
/// buffer of its own; most of it is read from the socket straight into that buffer, which [#lend] gives. A long frame
/// has some room behind it, so one read brings its end and the beginning of what follows.
///
/// A frame begins when there is room for it. Until then the bytes behind its length wait, and nothing more must be fed.
/// Not thread-safe.
public final class FrameDecoder {
  /// Fewer bytes are read with those that follow them, and copied.
  private static final int LEAST_LENT_BYTES = 1 << 12;
  /// Room behind a long frame. Bytes that arrive there are copied.
  static final int BEHIND_BYTES = 1 << 10;

  private final ByteBufAllocator alloc;
  private final IntPredicate room;

  private int maxFrameBytes;
  private int headerSeen;
  private int length;
  private int frames;
  private @Nullable ByteBuf open;
  private @Nullable ByteBuf lent;
  /// Bytes that arrived before there was room for their frame.
  private @Nullable ByteBuf held;
  private boolean waiting;
  private boolean closed;

  /// @param room asked with the length of a frame that did not come in one buffer; if it refuses, [#roomFound] is
  ///     called later
  public FrameDecoder(ByteBufAllocator alloc, int maxFrameBytes, IntPredicate room) {
    this.alloc = alloc;
    this.maxFrameBytes = maxFrameBytes;
    this.room = room;
  }

  /// Sets the limit of frames that begin from now on.
  public void maxFrameBytes(int bytes) {
    maxFrameBytes = bytes;
  }

  /// True between the first byte of a frame and its last, but for the time that it waits for room.
  public boolean isOpen() {
    return headerSeen > 0 && !waiting && !closed;
  }

  /// True while a frame waits for room.
  public boolean isWaiting() {
    return waiting;
  }

  /// Number of frames that have begun, to distinguish frames.
  public int begun() {
    return frames;
  }

  /// Length of the frame that is open or was the last, 0 if its header has not arrived whole.
  public int length() {
    return length;
  }

  /// Number of arrived bytes of the open frame.
  public int got() {
    ByteBuf frame = open;
    return frame == null ? 0 : frame.writerIndex();
  }

  /// Memory of the open frame, and the room behind it, for the next bytes; null if they need a buffer of their own.
  /// Given to [#feed] once filled, or released.
  @Nullable ByteBuf lend() {
    ByteBuf frame = open;
    if (frame == null || missing(frame) < LEAST_LENT_BYTES) {
      return null;
    }
    ByteBuf rest = frame.retainedSlice(frame.writerIndex(), frame.writableBytes()).clear();
    lent = rest;
    return rest;
  }

  /// Reads all of `in` and hands each whole frame to `to`; both `in` and the frames stay the giver's: retain a frame to
  /// keep it.
  ///
  /// @throws FrameLengthException for a length that no frame may have
  public @SuppressWarnings("ReferenceEquality") // the very memory that was lent
  void feed(ByteBuf in, Consumer<ByteBuf> to) {
    ByteBuf frame = open;
    if (in == lent && frame != null && !closed) {
      int own = Math.min(in.readableBytes(), missing(frame));
      frame.writerIndex(frame.writerIndex() + own);
      in.skipBytes(own);
      emitIfWhole(to);
      cutBehind(in, to);
    } else if (waiting) {
      hold(in);
    } else {
      cut(in, to);
    }
    lent = null;
  }

  /// The frame that waited has room.
  public void roomFound(Consumer<ByteBuf> to) {
    ByteBuf rest = held;
    held = null;
    if (!waiting) {
      return;
    }
    waiting = false;
    begin();
    if (rest != null) {
      try {
        cut(rest, to);
      } finally {
        rest.release();
      }
    }
  }

  /// Drops the open frame; later bytes are ignored.
  public void close() {
    closed = true;
    waiting = false;
    release(open);
    open = null;
    release(held);
    held = null;
  }

  private static void release(@Nullable ByteBuf dropped) {
    if (dropped != null) {
      dropped.release();
    }
  }

  private int missing(ByteBuf frame) {
    return length - frame.writerIndex();
  }

  /// Copies bytes behind a frame: shorter frames must not keep its memory.
  private void cutBehind(ByteBuf in, Consumer<ByteBuf> to) {
    if (!in.isReadable()) {
      return;
    }
    ByteBuf behind = alloc.directBuffer(in.readableBytes()).writeBytes(in);
    try {
      cut(behind, to);
    } finally {
      behind.release();
    }
  }

  private void cut(ByteBuf in, Consumer<ByteBuf> to) {
    while (!closed && in.isReadable()) {
      if (headerSeen < SendQueue.HEADER_BYTES) {
        readHeader(in);
      } else if (open != null) {
        fill(open, in, to);
      } else if (in.readableBytes() >= length) {
        headerSeen = 0;
        to.accept(in.readSlice(length));
      } else if (room.test(length)) {
        begin();
      } else {
        waiting = true;
        hold(in);
        return;
      }
    }
  }

  private void readHeader(ByteBuf in) {
    if (headerSeen == 0) {
      frames++;
      length = 0;
    }
    if (headerSeen == 0 && in.readableBytes() >= SendQueue.HEADER_BYTES) {
      length = in.readUnsignedMedium();
      headerSeen = SendQueue.HEADER_BYTES;
    } else {
      length = length << 8 | in.readUnsignedByte();
      headerSeen++;
    }
    if (headerSeen == SendQueue.HEADER_BYTES
        && (length < ConnectionLimits.SHORTEST_FRAME || length > maxFrameBytes)) {
      throw new FrameLengthException(length, maxFrameBytes);
    }
  }

  private void begin() {
    int room = length + (length < LEAST_LENT_BYTES ? 0 : BEHIND_BYTES);
    open = alloc.directBuffer(room, room);
  }

  private void fill(ByteBuf frame, ByteBuf in, Consumer<ByteBuf> to) {
    frame.writeBytes(in, Math.min(missing(frame), in.readableBytes()));
    emitIfWhole(to);
  }

  private void emitIfWhole(Consumer<ByteBuf> to) {
    ByteBuf frame = open;
    if (frame != null && missing(frame) == 0) {
      open = null;
      headerSeen = 0;
      try {
        to.accept(frame);
      } finally {
        frame.release();
      }
    }
  }

  private void hold(ByteBuf in) {
    ByteBuf before = held;
    int bytes = in.readableBytes() + (before == null ? 0 : before.readableBytes());
    ByteBuf all = alloc.directBuffer(bytes, bytes);
    if (before != null) {
      all.writeBytes(before);
      before.release();
    }
    held = all.writeBytes(in);
  }
}
