package io.penstock.wire.transport.frame;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.penstock.wire.transport.TransportFailure.FrameLengthException;
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
      FrameDecoder decoder = new FrameDecoder(ledger, 1 << 20, length -> true, null);

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

    new FrameDecoder(ledger, 100, length -> true, null).feed(in, frame -> frame.setByte(0, 42));

    assertThat(in.getByte(3)).isEqualTo((byte) 42);
    in.release();
    assertThat(ledger.lentSoFar()).isEqualTo(1); // nothing but the buffer itself: no copy
    ledger.assertAllReturned();
  }

  @Test
  void feed_frameOverSeveralBuffers_hasOneOfItsLength_andPinsNoOther() {
    List<ByteBuf> kept = new ArrayList<>();
    FrameDecoder decoder = new FrameDecoder(ledger, 1 << 20, length -> true, null);
    ByteBuf first = ledger.directBuffer(100).writeMedium(197).writeZero(97);
    ByteBuf second = ledger.directBuffer(100).writeZero(100);

    for (ByteBuf in : List.of(first, second)) {
      decoder.feed(in, frame -> kept.add(frame.retain()));
      in.release();
    }

    assertThat(kept).hasSize(1);
    assertThat(kept.get(0).capacity()).isEqualTo(197);
    assertThat(first.refCnt() + second.refCnt()).isZero();
    kept.get(0).release();
    ledger.assertAllReturned();
  }

  @Test
  void lend_givesTheRestOfTheOpenFrame_whichIsReadInPlace() {
    FrameDecoder decoder = new FrameDecoder(ledger, 1 << 20, length -> true, null);
    List<byte[]> got = new ArrayList<>();
    assertThat(decoder.lend()).isNull();
    ByteBuf first = ledger.directBuffer(1_000).writeMedium(100_000).writeByte(7);
    decoder.feed(first, frame -> got.add(ByteBufUtil.getBytes(frame)));
    first.release();

    ByteBuf part = decoder.lend();
    assertThat(part.maxWritableBytes()).isEqualTo(99_999 + FrameDecoder.BEHIND_BYTES);
    decoder.feed(part.writeZero(50_000), frame -> got.add(ByteBufUtil.getBytes(frame)));
    part.release();
    ByteBuf unread = decoder.lend(); // a read that found nothing
    unread.release();
    ByteBuf rest = decoder.lend();
    decoder.feed(rest.writeZero(49_998).writeByte(9), frame -> got.add(ByteBufUtil.getBytes(frame)));
    rest.release();

    byte[] expected = new byte[100_000];
    expected[0] = 7;
    expected[99_999] = 9;
    assertThat(got).hasSize(1);
    assertThat(got.get(0)).isEqualTo(expected);
    assertThat(ledger.lentSoFar()).isEqualTo(2); // one receive buffer, one frame
    assertThat(decoder.lend()).isNull();
    ledger.assertAllReturned();
  }

  @Test
  void lend_roomBehindTheFrame_bringsWhatFollows_inMemoryOfItsOwn() {
    FrameDecoder decoder = new FrameDecoder(ledger, 1 << 20, length -> true, null);
    List<ByteBuf> kept = new ArrayList<>();
    ByteBuf first = ledger.directBuffer(1_000).writeMedium(100_000).writeByte(7);
    decoder.feed(first, frame -> kept.add(frame.retain()));
    first.release();

    ByteBuf rest = decoder.lend();
    rest.writeZero(99_999).writeMedium(6).writeBytes(new byte[] {1, 2, 3, 4, 5, 6}).writeMedium(200_000).writeByte(8);
    decoder.feed(rest, frame -> kept.add(frame.retain()));
    rest.release();

    assertThat(kept).extracting(ByteBuf::readableBytes).containsExactly(100_000, 6);
    assertThat(ByteBufUtil.getBytes(kept.get(1))).containsExactly(1, 2, 3, 4, 5, 6);
    assertThat(kept.getFirst().refCnt()).as("held by its reader alone").isEqualTo(1);
    assertThat(decoder.got()).as("the next frame has begun").isEqualTo(1);
    kept.forEach(ByteBuf::release);
    decoder.close();
    ledger.assertAllReturned();
  }

  @Test
  void feed_withoutRoom_keepsWhatCame_andGoesOnWhenThereIsRoom() {
    List<Integer> asked = new ArrayList<>();
    List<byte[]> got = new ArrayList<>();
    FrameDecoder decoder = new FrameDecoder(ledger, 1 << 20, length -> {
      asked.add(length);
      return false;
    }, null);
    ByteBuf in = ledger.directBuffer(64).writeMedium(6).writeBytes(new byte[6]).writeMedium(20).writeByte(1);
    decoder.feed(in, frame -> got.add(ByteBufUtil.getBytes(frame)));
    in.release();
    ByteBuf behind = ledger.directBuffer(64).writeByte(2); // the socket gave one more buffer
    decoder.feed(behind, frame -> got.add(ByteBufUtil.getBytes(frame)));
    behind.release();

    assertThat(decoder.isWaiting()).isTrue();
    assertThat(decoder.isOpen()).isFalse();
    assertThat(asked).containsExactly(20);
    decoder.roomFound(frame -> got.add(ByteBufUtil.getBytes(frame)));
    assertThat(decoder.isOpen()).isTrue();
    ByteBuf rest = ledger.directBuffer(64).writeZero(17).writeByte(20);
    decoder.feed(rest, frame -> got.add(ByteBufUtil.getBytes(frame)));
    rest.release();

    byte[] expected = new byte[20];
    expected[0] = 1;
    expected[1] = 2;
    expected[19] = 20;
    assertThat(got).hasSize(2);
    assertThat(got.get(1)).isEqualTo(expected);
    ledger.assertAllReturned();
  }

  @Test
  void close_whileAFrameWaits_returnsWhatCame() {
    FrameDecoder decoder = new FrameDecoder(ledger, 1 << 20, length -> false, null);
    ByteBuf in = ledger.directBuffer(64).writeMedium(20).writeByte(1);
    decoder.feed(in, frame -> {});
    in.release();

    decoder.close();
    decoder.roomFound(frame -> {});

    assertThat(decoder.isWaiting() || decoder.isOpen()).isFalse();
    ledger.assertAllReturned();
  }

  @Test
  void feed_badLength_namesRuleAndValue() {
    for (int length : new int[] {0, 1, 5, 101, 0xFF_FFFF}) {
      FrameDecoder decoder = new FrameDecoder(ledger, 100, any -> true, null);
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
    FrameDecoder decoder = new FrameDecoder(ledger, 100, length -> true, null);
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
