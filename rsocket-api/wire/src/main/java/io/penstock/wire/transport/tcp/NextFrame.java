package io.penstock.wire.transport.tcp;

import io.netty.buffer.ByteBuf;
import io.penstock.wire.transport.frame.FrameTypes;
import io.rsocket.frame.FrameType;

/// Keeps the event loop of a connection awake for its next frame, while its requests are such as have one short answer:
/// then the next frame comes soon, at either side. Streams and long answers keep the loop busy, or pause for longer. On
/// the event loop.
final class NextFrame {
  /// Most bytes, both ways, since the last request: a longer answer takes more time than to wake a thread.
  static final long MOST_BYTES = 512 << 10;

  private final Runnable soon;
  private boolean isSoon;
  private long bytes;

  /// @param soon run when the next frame will come soon
  NextFrame(Runnable soon) {
    this.soon = soon;
  }

  /// A frame comes, or leaves.
  void passes(ByteBuf frame) {
    if (FrameTypes.is(FrameType.REQUEST_RESPONSE, frame)) {
      isSoon = true;
      bytes = 0;
    } else if (FrameTypes.is(FrameType.REQUEST_STREAM, frame) || FrameTypes.is(FrameType.REQUEST_CHANNEL, frame)) {
      isSoon = false;
    }
  }

  /// Bytes were read, or written.
  void moved(long some) {
    bytes += some;
  }

  /// The loop has read what was there, or written what was at hand.
  void await() {
    if (isSoon && bytes <= MOST_BYTES) {
      soon.run();
    }
  }
}
