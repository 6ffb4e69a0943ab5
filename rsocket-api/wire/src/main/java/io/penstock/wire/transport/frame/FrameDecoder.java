package io.penstock.wire.transport.frame;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.penstock.wire.transport.ConnectionLimits;
import io.penstock.wire.transport.TransportFailure.FrameLengthException;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/// Cuts received bytes into frames. A frame that came in one receive buffer is a slice of it. Any other frame has one
/// buffer of its own; most of it is read from the socket straight into that buffer, which [#lend] gives. A long frame
/// has some room behind it, so one read brings its end and the beginning of what follows. If its stream has memory for
/// its last bytes ([StreamBodies]), they are read into that instead, and the frame ends before them.
///
/// A frame begins when there is room for it. Until then the bytes behind its length wait, and nothing more must be fed.
/// Not thread-safe.
public final class FrameDecoder {
  /// Fewer bytes are read with those that follow them, and copied.
  private static final int LEAST_LENT_BYTES = 1 << 12;
  /// Shorter frames come whole.
  private static final int LEAST_BODY_BYTES = 1 << 14;
  /// Room behind a long frame. Bytes that arrive there are copied.
  static final int BEHIND_BYTES = 1 << 10;

  private final ByteBufAllocator alloc;
  private final IntPredicate room;
  private final @Nullable StreamBodies bodies;

  private int maxFrameBytes;
  private int headerSeen;
  private int length;
  private int frames;
  private @Nullable ByteBuf open;
  private @Nullable ByteBuf lent;
  /// Memory for the last bytes of the open frame; null if they come with it.
  private @Nullable FrameBody body;
  /// Number of bytes that came into `body`.
  private int bodyBytes;
  /// Number of first bytes of the open frame that say where its last bytes go, as far as that is known.
  private int head;
  /// Whether it is known where the last bytes of the open frame go.
  private boolean isPlaced;
  /// Bytes that arrived before there was room for their frame.
  private @Nullable ByteBuf held;
  private boolean waiting;
  private boolean closed;

  /// @param room asked with the length of a frame that did not come in one buffer; if it refuses, [#roomFound] is
  ///     called later
  /// @param bodies memory of streams for their frames; null if all frames must come whole
  public FrameDecoder(ByteBufAllocator alloc, int maxFrameBytes, IntPredicate room, @Nullable StreamBodies bodies) {
    this.bodies = bodies;
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
    return frame == null ? 0 : frame.writerIndex() + bodyBytes;
  }

  /// Memory of the open frame, and the room behind it, for the next bytes; null if they need a buffer of their own.
  /// Given to [#feed] once filled, or released.
  @Nullable ByteBuf lend() {
    ByteBuf frame = open;
    if (frame == null) {
      return null;
    }
    FrameBody into = body;
    if (into == null && missing(frame) < LEAST_LENT_BYTES) {
      return null;
    }
    ByteBuf rest = into == null
        ? frame.retainedSlice(frame.writerIndex(), lendable(frame)).clear()
        : Unpooled.wrappedBuffer(into.next()).clear();
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
    if (in == lent && frame != null && !closed && body != null) {
      filled(body, in.readableBytes());
      in.skipBytes(in.readableBytes());
      emitIfWhole(to);
    } else if (in == lent && frame != null && !closed) {
      int own = Math.min(in.readableBytes(), missing(frame));
      frame.writerIndex(frame.writerIndex() + own);
      in.skipBytes(own);
      place(frame);
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
    closeBody();
    release(open);
    open = null;
    release(held);
    held = null;
  }

  private void closeBody() {
    FrameBody filled = body;
    if (filled != null && bodies != null) {
      body = null;
      bodies.filled();
      filled.close();
    }
  }

  /// Gives up the memory of a stream that has closed: the rest of its frame, of which it takes none, comes with the
  /// frame.
  public void giveUpAbandoned() {
    if (bodies != null && bodies.isAbandoned()) {
      closeBody();
    }
  }

  private static void release(@Nullable ByteBuf dropped) {
    if (dropped != null) {
      dropped.release();
    }
  }

  private int missing(ByteBuf frame) {
    return length - frame.writerIndex() - bodyBytes;
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
    bodyBytes = 0;
    isPlaced = bodies == null || length < LEAST_BODY_BYTES;
    place(open);
  }

  /// Room of an open frame to read into. Until it is known where its last bytes go, this is the room of the bytes that
  /// say it.
  private int lendable(ByteBuf frame) {
    return isPlaced ? frame.writableBytes() : head - frame.writerIndex();
  }

  /// Decides where the last bytes of an open frame go, once its first bytes are there, which say it.
  private void place(ByteBuf frame) {
    if (isPlaced || bodies == null || missing(frame) == 0) {
      return;
    }
    head = bodies.headBytes(frame);
    if (head > frame.writerIndex()) {
      isPlaced = head >= length;
      return;
    }
    isPlaced = true;
    FrameBody found = head == 0 ? null : bodies.take(frame, length);
    if (found != null) {
      body = found;
      if (closed || bodies.isAbandoned()) { // by a step of the stream that waited, or by another thread
        closeBody();
        return;
      }
      ByteBuf came = frame.slice(head, frame.writerIndex() - head);
      frame.writerIndex(head);
      copy(came, came.readableBytes(), found);
    }
  }

  /// Copies bytes that a read brought together with others.
  private void copy(ByteBuf in, int bytes, FrameBody to) {
    for (int left = bytes; left > 0;) {
      ByteBuffer next = to.next();
      next.limit(Math.min(next.limit(), next.position() + left));
      int part = next.remaining();
      in.readBytes(next);
      filled(to, part);
      left -= part;
    }
  }

  private void filled(FrameBody into, int bytes) {
    into.filled(bytes);
    bodyBytes += bytes;
  }

  private void fill(ByteBuf frame, ByteBuf in, Consumer<ByteBuf> to) {
    if (body != null) {
      copy(in, Math.min(missing(frame), in.readableBytes()), body);
    } else {
      int wanted = isPlaced ? missing(frame) : head - frame.writerIndex();
      frame.writeBytes(in, Math.min(wanted, in.readableBytes()));
      place(frame);
    }
    emitIfWhole(to);
  }

  private void emitIfWhole(Consumer<ByteBuf> to) {
    ByteBuf frame = open;
    if (frame != null && missing(frame) == 0) {
      open = null;
      headerSeen = 0;
      closeBody();
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
