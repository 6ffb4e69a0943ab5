package io.penstock.wire.transport.frame;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.rsocket.frame.CancelFrameCodec;
import io.rsocket.frame.ErrorFrameCodec;
import io.rsocket.frame.PayloadFrameCodec;
import io.rsocket.frame.RequestNFrameCodec;
import io.rsocket.frame.RequestResponseFrameCodec;
import org.junit.jupiter.api.Test;

class AskedFramesTest {
  private static final ByteBufAllocator ALLOC = ByteBufAllocator.DEFAULT;

  private final AskedFrames asked = new AskedFrames();

  private void sent(int stream, ByteBuf frame) {
    asked.sent(stream, frame);
    frame.release();
  }

  private void came(ByteBuf frame) {
    asked.came(frame);
    frame.release();
  }

  private static ByteBuf payload(int stream, boolean last) {
    return PayloadFrameCodec.encode(ALLOC, stream, false, last, true, null, Unpooled.wrappedBuffer(new byte[9]));
  }

  @Test
  void requestN_isOpen_untilAsManyPayloadsCame() {
    sent(1, RequestNFrameCodec.encode(ALLOC, 1, 2));
    sent(3, RequestNFrameCodec.encode(ALLOC, 3, 1));
    came(payload(1, false));
    came(payload(5, false));
    came(payload(3, false));
    assertThat(asked.any()).isTrue();
    came(payload(1, false));
    assertThat(asked.any()).isFalse();
  }

  @Test
  void endOfAStream_eitherWay_forgetsWhatItWasAskedFor() {
    sent(1, RequestNFrameCodec.encode(ALLOC, 1, Integer.MAX_VALUE));
    came(payload(1, true));
    assertThat(asked.any()).isFalse();
    sent(3, RequestNFrameCodec.encode(ALLOC, 3, 7));
    came(CancelFrameCodec.encode(ALLOC, 3));
    assertThat(asked.any()).isFalse();
    sent(5, RequestNFrameCodec.encode(ALLOC, 5, 7));
    sent(5, CancelFrameCodec.encode(ALLOC, 5));
    assertThat(asked.any()).isFalse();
    sent(7, RequestNFrameCodec.encode(ALLOC, 7, 7));
    sent(7, ErrorFrameCodec.encode(ALLOC, 7, new IllegalStateException("broken")));
    assertThat(asked.any()).isFalse();
  }

  @Test
  void otherFrames_andTypesThatRSocketHasNot_changeNothing() {
    sent(1, RequestNFrameCodec.encode(ALLOC, 1, 1));
    came(RequestResponseFrameCodec.encode(ALLOC, 9, false, null, Unpooled.EMPTY_BUFFER));
    came(Unpooled.buffer().writeInt(1).writeShort(0x30 << 10 | 0x80));
    came(Unpooled.buffer().writeInt(1));
    sent(0, Unpooled.buffer().writeInt(0));
    assertThat(asked.any()).isTrue();
  }
}
