package io.penstock.wire.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class FrameDecoderTest {
  private final LedgerAllocator ledger = new LedgerAllocator();

  @Test
  void feed_anyChunking_yieldsTheSameFrames() {
    for (int seed = 0; seed < 500; seed++) {
      Random random = new Random(seed);
      List<byte[]> sent = frames(random);
      ByteBuf stream = encode(sent);
      List<byte[]> got = new ArrayList<>();
      FrameDecoder decoder = new FrameDecoder(ledger, 1 << 20);

      while (stream.isReadable()) {
        int chunk = Math.min(stream.readableBytes(), 1 + random.nextInt(1 << random.nextInt(1, 17)));
        ByteBuf in = ledger.directBuffer(Math.max(chunk, 1 << random.nextInt(17))).writeBytes(stream, chunk);
        decoder.feed(in, frame -> got.add(ByteBufUtil.getBytes(frame)));
        in.release();
      }
      decoder.close();

      assertThat(got).as("seed %d", seed).hasSameSizeAs(sent);
      for (int i = 0; i < sent.size(); i++) {
        assertThat(got.get(i)).as("seed %d, frame %d", seed, i).isEqualTo(sent.get(i));
      }
      stream.release();
      ledger.assertAllReturned();
    }
  }

  @Test
  void feed_wholeFrameInOneBuffer_isASliceOfIt() {
    ByteBuf in = ledger.directBuffer(64).writeMedium(10).writeZero(10).writeMedium(6).writeZero(6);

    new FrameDecoder(ledger, 100).feed(in, frame -> frame.setByte(0, 42));

    assertThat(in.getByte(3)).isEqualTo((byte) 42);
    in.release();
    assertThat(ledger.lentSoFar()).isEqualTo(1); // nothing but the buffer itself: no copy
    ledger.assertAllReturned();
  }

  @Test
  void feed_frameOverSeveralFullBuffers_isACompositeOfTheirSlices() {
    List<ByteBuf> kept = new ArrayList<>();
    FrameDecoder decoder = new FrameDecoder(ledger, 1 << 20);
    ByteBuf first = ledger.directBuffer(100).writeMedium(197).writeZero(97);
    ByteBuf second = ledger.directBuffer(100).writeZero(100);

    for (ByteBuf in : List.of(first, second)) {
      decoder.feed(in, frame -> kept.add(frame.retain()));
      in.release();
    }

    assertThat(kept).hasSize(1);
    assertThat(((CompositeByteBuf) kept.get(0)).numComponents()).isEqualTo(2);
    assertThat(first.refCnt()).isEqualTo(1); // pinned by the frame
    kept.get(0).release();
    ledger.assertAllReturned();
  }

  @Test
  void feed_drippingPeer_pinsNoLargeBuffers() {
    FrameDecoder decoder = new FrameDecoder(ledger, 1 << 20);
    List<ByteBuf> fed = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      ByteBuf in = ledger.directBuffer(1 << 16);
      if (i == 0) {
        in.writeMedium(1 << 20);
      }
      in.writeByte(i);
      decoder.feed(in, frame -> {});
      in.release();
      fed.add(in);
    }

    assertThat(fed).allMatch(in -> in.refCnt() == 0);
    decoder.close();
    ledger.assertAllReturned();
  }

  @Test
  void feed_badLength_namesRuleAndValue() {
    for (int length : new int[] {0, 1, 5, 101, 0xFF_FFFF}) {
      FrameDecoder decoder = new FrameDecoder(ledger, 100);
      ByteBuf in = ledger.directBuffer(16).writeMedium(length).writeZero(3);
      assertThatThrownBy(() -> decoder.feed(in, frame -> {}))
          .isInstanceOf(FrameLengthException.class)
          .hasMessage("frame length must be in [6, 100] (was " + length + ")");
      in.release();
      decoder.close();
    }
    ledger.assertAllReturned();
  }

  @Test
  void close_whileHandingOut_dropsTheRest() {
    FrameDecoder decoder = new FrameDecoder(ledger, 100);
    ByteBuf in = ledger.directBuffer(64).writeMedium(6).writeZero(6).writeMedium(6).writeZero(6);
    List<Integer> seen = new ArrayList<>();

    decoder.feed(in, frame -> {
      seen.add(frame.readableBytes());
      decoder.close();
    });

    assertThat(seen).containsExactly(6);
    in.release();
    ledger.assertAllReturned();
  }

  private static List<byte[]> frames(Random random) {
    List<byte[]> frames = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      byte[] frame = new byte[6 + random.nextInt(1 << random.nextInt(1, 18))];
      random.nextBytes(frame);
      frames.add(frame);
    }
    return frames;
  }

  private static ByteBuf encode(List<byte[]> frames) {
    ByteBuf stream = Unpooled.buffer();
    frames.forEach(frame -> stream.writeMedium(frame.length).writeBytes(frame));
    return stream;
  }
}
