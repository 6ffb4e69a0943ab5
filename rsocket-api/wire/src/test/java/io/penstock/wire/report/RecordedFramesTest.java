package io.penstock.wire.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.penstock.recording.MemoryRecording;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.rsocket.frame.FrameType;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Frames of a peer that breaks the rules: they are read for the recording, and pass unchanged.
final class RecordedFramesTest {
  private static final int METADATA = 0x100;

  private final MemoryRecording recording = MemoryRecording.begin();
  private final RecordedFrames frames = new RecordedFrames(null);

  RecordedFramesTest() {
    frames.up(recording.recorder().link("peer", "here"));
  }

  private static ByteBuf header(FrameType type, int flags) {
    return Unpooled.directBuffer().writeInt(1).writeShort(type.getEncodedType() << 10 | flags);
  }

  private void passesUnchanged(ByteBuf frame) {
    byte[] before = new byte[frame.readableBytes()];
    frame.getBytes(frame.readerIndex(), before);
    int reader = frame.readerIndex();
    int writer = frame.writerIndex();
    try {
      frames.received(frame);
      frames.sent(frame);

      assertThat(frame.readerIndex()).isEqualTo(reader);
      assertThat(frame.writerIndex()).isEqualTo(writer);
      byte[] after = new byte[frame.readableBytes()];
      frame.getBytes(reader, after);
      assertThat(after).isEqualTo(before);
      assertThat(frame.refCnt()).isOne();
    } finally {
      frame.release(frame.refCnt());
    }
  }

  private List<String> messages() {
    return recording.events().stream().filter(event -> event.kind() == Kind.LINK && event.size() > 3)
        .map(RecordedEvent::text).toList();
  }

  @Test
  void metadataThatIsLongerThanItsFrame_leavesTheFrame() {
    passesUnchanged(header(FrameType.REQUEST_RESPONSE, METADATA).writeMedium(0xFFFFFF).writeByte(7));
    passesUnchanged(header(FrameType.REQUEST_STREAM, METADATA).writeInt(5).writeMedium(0xFFFFFF).writeByte(7));

    assertThat(messages()).containsExactly("request_response unknown", "request_response unknown",
        "request_stream unknown", "request_stream unknown");
  }

  @Test
  void demandThatIsCutOff_leavesTheFrame_andIsAMessage() {
    passesUnchanged(header(FrameType.REQUEST_N, 0).writeByte(1));
    passesUnchanged(header(FrameType.REQUEST_CHANNEL, 0));

    assertThat(messages()).hasSize(4).containsOnly("unreadable");
  }

  @Test
  void randomBytes_leaveTheFrame() {
    Random random = new Random(42);
    for (int i = 0; i < 5_000; i++) {
      byte[] bytes = new byte[random.nextInt(40)];
      random.nextBytes(bytes);
      if (bytes.length > 3) {
        bytes[0] = 0;
        bytes[1] = 0;
        bytes[2] = 0;
        bytes[3] &= 3; // few streams, so that their signals meet
      }
      passesUnchanged(Unpooled.directBuffer().writeByte(9).writeBytes(bytes).skipBytes(1));
    }

    assertThat(messages()).contains("unreadable");
  }
}
