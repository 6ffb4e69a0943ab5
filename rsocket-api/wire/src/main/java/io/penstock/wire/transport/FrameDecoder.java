package io.penstock.wire.transport;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Cuts received bytes into frames without copying them: a frame is a slice of one receive buffer, or a composite of
/// slices.
///
/// A slice pins its whole receive buffer. So that a peer which sends a few bytes at a time cannot pin a large buffer
/// for each of them, bytes of an open frame are copied together when less than a quarter of their buffer was filled.
/// Not thread-safe.
final class FrameDecoder {
  private static final int GATHER_BYTES = 1 << 16;

  private final ByteBufAllocator alloc;
  private final int maxFrameBytes;

  private int headerSeen;
  private int length;
  private int missing;
  private @Nullable CompositeByteBuf open;
  private @Nullable ByteBuf gathered;
  private boolean closed;

  FrameDecoder(ByteBufAllocator alloc, int maxFrameBytes) {
    this.alloc = alloc;
    this.maxFrameBytes = maxFrameBytes;
  }

  /// Reads all of `in` and hands each whole frame to `frames`; both `in` and the frames stay the giver's: retain what
  /// is kept.
  ///
  /// @throws FrameLengthException for a length that no frame may have
  void feed(ByteBuf in, Consumer<ByteBuf> frames) {
    boolean sparse = in.readableBytes() < in.capacity() >>> 2;
    while (!closed && in.isReadable()) {
      if (headerSeen < SendQueue.HEADER_BYTES) {
        readHeader(in);
      } else {
        readBody(in, sparse, frames);
      }
    }
  }

  /// Drops the open frame; what is fed from now on is ignored.
  void close() {
    closed = true;
    CompositeByteBuf dropped = open;
    open = null;
    if (dropped != null) {
      dropped.release();
    }
    ByteBuf part = gathered;
    gathered = null;
    if (part != null) {
      part.release();
    }
  }

  private void readHeader(ByteBuf in) {
    if (headerSeen == 0 && in.readableBytes() >= SendQueue.HEADER_BYTES) {
      length = in.readUnsignedMedium();
      headerSeen = SendQueue.HEADER_BYTES;
    } else {
      length = headerSeen == 0 ? in.readUnsignedByte() : length << 8 | in.readUnsignedByte();
      headerSeen++;
    }
    if (headerSeen == SendQueue.HEADER_BYTES) {
      if (length < ConnectionLimits.SHORTEST_FRAME || length > maxFrameBytes) {
        throw new FrameLengthException(length, maxFrameBytes);
      }
      missing = length;
    }
  }

  private void readBody(ByteBuf in, boolean sparse, Consumer<ByteBuf> frames) {
    int take = Math.min(missing, in.readableBytes());
    if (take == length) {
      headerSeen = 0;
      frames.accept(in.readSlice(take));
      return;
    }
    if (sparse) {
      gather(in, take);
    } else {
      addGathered();
      open().addComponent(true, in.readRetainedSlice(take));
      missing -= take;
    }
    if (missing == 0) {
      emit(frames);
    }
  }

  private void emit(Consumer<ByteBuf> frames) {
    addGathered();
    CompositeByteBuf frame = open();
    open = null;
    headerSeen = 0;
    try {
      frames.accept(frame);
    } finally {
      frame.release();
    }
  }

  private void gather(ByteBuf in, int bytes) {
    for (int left = bytes; left > 0;) {
      ByteBuf into = gathered;
      if (into == null) {
        into = alloc.directBuffer(Math.min(missing, GATHER_BYTES), Math.min(missing, GATHER_BYTES));
        gathered = into;
      }
      int step = Math.min(left, into.writableBytes());
      into.writeBytes(in, step);
      left -= step;
      missing -= step;
      if (!into.isWritable()) {
        addGathered();
      }
    }
  }

  private void addGathered() {
    ByteBuf part = gathered;
    if (part != null) {
      gathered = null;
      open().addComponent(true, part);
    }
  }

  private CompositeByteBuf open() {
    CompositeByteBuf frame = open;
    if (frame == null) {
      frame = alloc.compositeDirectBuffer(Integer.MAX_VALUE);
      open = frame;
    }
    return frame;
  }
}
