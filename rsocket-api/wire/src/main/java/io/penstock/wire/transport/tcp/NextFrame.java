package io.penstock.wire.transport.tcp;

import io.netty.buffer.ByteBuf;
import io.penstock.wire.transport.frame.FrameTypes;
import io.rsocket.frame.FrameType;

/// Keeps the event loop of a connection awake for its next frame, while its requests are such as have one answer: then
/// the next frame comes soon, at either side. Streams keep the loop busy, or pause for longer. On the event loop.
final class NextFrame {
  private final Runnable soon;
  private boolean isSoon;

  /// @param soon run when the next frame will come soon
  NextFrame(Runnable soon) {
    this.soon = soon;
  }

  /// A frame comes, or leaves.
  void passes(ByteBuf frame) {
    if (FrameTypes.is(FrameType.REQUEST_RESPONSE, frame)) {
      isSoon = true;
    } else if (FrameTypes.is(FrameType.REQUEST_STREAM, frame) || FrameTypes.is(FrameType.REQUEST_CHANNEL, frame)) {
      isSoon = false;
    }
  }

  /// The loop has read what was there, or written what was at hand.
  void isAwaited() {
    if (isSoon) {
      soon.run();
    }
  }
}
