package io.penstock.wire.transport.frame;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.netty.buffer.ByteBuf;
import io.rsocket.frame.FrameHeaderCodec;
import io.rsocket.frame.FrameType;
import java.util.HashMap;
import java.util.Map;

/// Number of payload frames that this side has requested from its peer and not received, by the `REQUEST_N` frames that
/// it sent. Safe from any thread.
public final class AskedFrames {
  private static final int BODY = FrameHeaderCodec.size();
  private static final int REQUEST_N = FrameType.REQUEST_N.getEncodedType();
  private static final int CANCEL = FrameType.CANCEL.getEncodedType();
  private static final int ERROR = FrameType.ERROR.getEncodedType();
  private static final int PAYLOAD = FrameType.PAYLOAD.getEncodedType();

  @GuardedBy("this") private final Map<Integer, Long> byStream = new HashMap<>();

  /// True while the peer may send a frame that it was asked for.
  public synchronized boolean any() {
    return !byStream.isEmpty();
  }

  /// A frame leaves for the peer.
  public void sent(int streamId, ByteBuf frame) {
    if (streamId == 0 || frame.readableBytes() < BODY) {
      return;
    }
    int type = FrameTypes.of(frame);
    if (type == REQUEST_N) {
      ask(streamId, frame.getInt(frame.readerIndex() + BODY));
    } else if (type == CANCEL || type == ERROR) {
      forget(streamId);
    }
  }

  /// Counts a frame. After a signal that may be the last of its stream nothing counts as requested until the next
  /// `REQUEST_N`.
  public void came(ByteBuf frame) {
    if (frame.readableBytes() < BODY || !any()) {
      return;
    }
    int streamId = frame.getInt(frame.readerIndex());
    int type = FrameTypes.of(frame);
    if (type == PAYLOAD && !FrameHeaderCodec.hasComplete(frame)) {
      gotOne(streamId);
    } else if (type == PAYLOAD || type == CANCEL || type == ERROR) {
      forget(streamId);
    }
  }

  private synchronized void ask(int streamId, int frames) {
    byStream.merge(streamId, (long) frames, Long::sum);
  }

  private synchronized void gotOne(int streamId) {
    byStream.computeIfPresent(streamId, (stream, left) -> left > 1 ? left - 1 : null);
  }

  private synchronized void forget(int streamId) {
    byStream.remove(streamId);
  }
}
