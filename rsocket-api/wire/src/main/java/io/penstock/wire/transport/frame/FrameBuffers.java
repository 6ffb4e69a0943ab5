package io.penstock.wire.transport.frame;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.ChannelConfig;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.util.UncheckedBooleanSupplier;
import io.penstock.wire.transport.ConnectionLimits;

/// Destination of the bytes of the next read: the open frame, or else a receive buffer. Behind a long frame that buffer
/// is small, because another long frame usually follows, and its bytes in the buffer are copied.
public final class FrameBuffers implements RecvByteBufAllocator {
  private static final int LONG_FRAME_BYTES = 128 << 10;
  /// Maximum number of reads of a connection, and of bytes, before others have their turn, as long as each read fills
  /// its buffer.
  private static final int READS = 16;
  private static final int TURN_BYTES = 2 << 20;

  private final AdaptiveRecvByteBufAllocator buffers;
  private final FrameDecoder decoder;
  private final int leastBytes;

  public FrameBuffers(ConnectionLimits limits, FrameDecoder decoder) {
    this.buffers = new AdaptiveRecvByteBufAllocator(limits.minReceiveBytes(), limits.minReceiveBytes(),
        limits.maxReceiveBytes());
    this.buffers.maxMessagesPerRead(READS);
    this.decoder = decoder;
    this.leastBytes = limits.minReceiveBytes();
  }

  @Override
  @SuppressWarnings("deprecation") // the interface returns its old handle; channels want the extended one
  public Handle newHandle() {
    return new FrameHandle((ExtendedHandle) buffers.newHandle());
  }

  private final class FrameHandle extends DelegatingHandle implements ExtendedHandle {
    private final ExtendedHandle adaptive;
    private int turnBytes;

    private FrameHandle(ExtendedHandle adaptive) {
      super(adaptive);
      this.adaptive = adaptive;
    }

    @Override
    public ByteBuf allocate(ByteBufAllocator alloc) {
      ByteBuf frame = decoder.lend();
      if (frame != null) {
        return frame;
      }
      return decoder.length() >= LONG_FRAME_BYTES
          ? alloc.directBuffer(leastBytes)
          : super.allocate(alloc);
    }

    @Override
    public void reset(ChannelConfig config) {
      turnBytes = 0;
      super.reset(config);
    }

    @Override
    public void lastBytesRead(int bytes) {
      turnBytes += Math.max(0, bytes);
      super.lastBytesRead(bytes);
    }

    @Override
    public boolean continueReading() {
      return turnBytes < TURN_BYTES && super.continueReading();
    }

    @Override
    public boolean continueReading(UncheckedBooleanSupplier maybeMoreData) {
      return turnBytes < TURN_BYTES && adaptive.continueReading(maybeMoreData);
    }
  }
}
