package io.penstock.wire.transport.frame;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.rsocket.frame.FrameHeaderCodec;
import io.rsocket.frame.FrameType;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class StreamBodiesTest {
  private static final int STREAM = 7;
  private static final int FRAME_HEAD = FrameHeaderCodec.size();
  private static final int DATA_HEAD = 9;
  private static final int PART = 3000;

  private final LedgerAllocator ledger = new LedgerAllocator();
  private final List<Memory> taken = new ArrayList<>();
  private boolean passing = true;
  private boolean closesInBetween;
  private boolean abandoned;
  private final StreamBodies bodies = new StreamBodies(() -> passing, () -> abandoned = true);
  private final StreamBodies.Stream stream = new StreamBodies.Stream(data -> DATA_HEAD, this::take);

  /// Memory in parts of 3,000 bytes.
  private static final class Memory implements FrameBody {
    private final ByteBuffer bytes;
    private boolean closed;

    Memory(int bytes) {
      this.bytes = ByteBuffer.allocateDirect(bytes);
    }

    @Override
    public ByteBuffer next() {
      assertThat(closed).isFalse();
      int end = Math.min(bytes.capacity(), (bytes.position() / PART + 1) * PART);
      return bytes.slice(bytes.position(), end - bytes.position());
    }

    @Override
    public void filled(int count) {
      bytes.position(bytes.position() + count);
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  private @Nullable FrameBody take(ByteBuf data, int bytes) {
    assertThat(data.readableBytes()).isGreaterThanOrEqualTo(DATA_HEAD);
    Memory memory = new Memory(bytes - DATA_HEAD);
    taken.add(memory);
    if (closesInBetween) {
      stream.close();
    }
    return memory;
  }

  private void open() {
    ByteBuf request = frame(STREAM, FrameType.REQUEST_STREAM, 0, new byte[20]);
    stream.opening(() -> bodies.sends(STREAM, request));
  }

  private static ByteBuf frame(int streamId, FrameType type, int flags, byte[] data) {
    return Unpooled.buffer().writeInt(streamId).writeShort(type.getEncodedType() << 10 | flags).writeBytes(data);
  }

  private static byte[] bytes(Random random, int count) {
    byte[] bytes = new byte[count];
    random.nextBytes(bytes);
    return bytes;
  }

  @Test
  void longFramesOfTheStream_endBeforeTheirBodies_whichAreInItsMemory_howeverTheyAreCut() {
    open();
    for (int seed = 0; seed < 300; seed++) {
      Random random = new Random(seed);
      List<byte[]> expected = new ArrayList<>();
      List<byte[]> expectedBodies = new ArrayList<>();
      ByteBuf sent = sent(random, expected, expectedBodies);
      List<byte[]> got = new ArrayList<>();
      taken.clear();
      FrameDecoder decoder = new FrameDecoder(ledger, 1 << 20, length -> true, bodies);
      while (sent.isReadable()) {
        ByteBuf lent = decoder.lend();
        ByteBuf in = lent == null ? ledger.directBuffer(1 + random.nextInt(2000)) : lent;
        assertThat(in.isWritable()).as("seed %d", seed).isTrue();
        int chunk = Math.min(sent.readableBytes(), 1 + random.nextInt(in.writableBytes()));
        in.writeBytes(sent, chunk);
        decoder.feed(in, frame -> got.add(ByteBufUtil.getBytes(frame)));
        in.release();
      }
      decoder.close();

      assertSame(seed, got, expected);
      assertSame(seed, taken.stream().map(StreamBodiesTest::whole).toList(), expectedBodies);
      sent.release();
      ledger.assertAllReturned();
    }
  }

  private static ByteBuf sent(Random random, List<byte[]> frames, List<byte[]> expectedBodies) {
    ByteBuf sent = Unpooled.directBuffer();
    for (int i = 0; i < 6; i++) {
      boolean isOther = random.nextInt(4) == 0;
      byte[] data = bytes(random, random.nextInt(3) == 0 ? 100 : (16 << 10) + random.nextInt(50_000));
      ByteBuf frame = frame(isOther ? STREAM + 2 : STREAM, FrameType.PAYLOAD, 0x20, data);
      sent.writeMedium(frame.readableBytes()).writeBytes(frame.slice());
      boolean isShort = frame.readableBytes() < 16 << 10;
      frames.add(ByteBufUtil.getBytes(isOther || isShort ? frame : frame.slice(0, FRAME_HEAD + DATA_HEAD)));
      if (!isOther && !isShort) {
        expectedBodies.add(Arrays.copyOfRange(data, DATA_HEAD, data.length));
      }
    }
    return sent;
  }

  private static byte[] whole(Memory memory) {
    assertThat(memory.closed).isTrue();
    assertThat(memory.bytes.hasRemaining()).isFalse();
    byte[] bytes = new byte[memory.bytes.capacity()];
    memory.bytes.get(0, bytes);
    return bytes;
  }

  private static void assertSame(int seed, List<byte[]> got, List<byte[]> expected) {
    assertThat(got).as("seed %d", seed).hasSameSizeAs(expected);
    for (int i = 0; i < expected.size(); i++) {
      assertThat(got.get(i)).as("seed %d, %d", seed, i).isEqualTo(expected.get(i));
    }
  }

  @Test
  void decoderThatClosesInsideABody_closesItsMemory() {
    open();
    FrameDecoder decoder = begun();

    decoder.close();

    assertThat(taken).singleElement().satisfies(memory -> assertThat(memory.closed).isTrue());
    ledger.assertAllReturned();
  }

  @Test
  void progressOfAFrame_countsTheBytesOfItsBody() {
    open();
    FrameDecoder decoder = begun();

    assertThat(decoder.got()).isEqualTo(500);
    assertThat(decoder.isOpen()).isTrue();
    decoder.close();
  }

  @Test
  void streamThatHasClosed_orFramesThatWait_comeWhole() {
    open();
    passing = false;
    begun().close();
    passing = true;
    stream.close();
    begun().close();

    assertThat(taken).isEmpty();
    ledger.assertAllReturned();
  }

  @Test
  void streamThatClosesInsideABody_getsItsMemoryBack_andTheRestComesWithTheFrame() {
    open();
    List<byte[]> got = new ArrayList<>();
    FrameDecoder decoder = begun();

    stream.close();
    assertThat(abandoned).isTrue();
    decoder.giveUpAbandoned();
    assertThat(taken).singleElement().satisfies(memory -> assertThat(memory.closed).isTrue());
    ByteBuf rest = ByteBufAllocator.DEFAULT.directBuffer().writeZero(20_000 + FRAME_HEAD - 500);
    decoder.feed(rest, frame -> got.add(ByteBufUtil.getBytes(frame)));
    rest.release();

    assertThat(got).hasSize(1);
    assertThat(decoder.isOpen()).isFalse();
    ledger.assertAllReturned();
  }

  @Test
  void streamThatClosesWhileItGivesMemory_getsItBackAtOnce() {
    open();
    closesInBetween = true;
    FrameDecoder decoder = begun();

    assertThat(taken).singleElement().satisfies(memory -> assertThat(memory.closed).isTrue());
    assertThat(decoder.got()).isEqualTo(500);
    decoder.close();
    ledger.assertAllReturned();
  }

  @Test
  void streamThatClosesBetweenFrames_givesUpNothing() {
    open();
    stream.close();

    assertThat(abandoned).isFalse();
  }

  @Test
  void frameWithoutAnElement_comesWhole() {
    open();
    ByteBuf completes = frame(STREAM, FrameType.PAYLOAD, 0x40, new byte[20_000]);

    assertThat(bodies.headBytes(completes)).isZero();
  }

  @Test
  void streamOrRequestThatIsSent_isEntered_andNothingElse() {
    assertThat(entersAsAsked(FrameType.REQUEST_STREAM)).isTrue();
    assertThat(entersAsAsked(FrameType.REQUEST_RESPONSE)).isTrue();
    assertThat(entersAsAsked(FrameType.REQUEST_FNF)).isFalse();
    assertThat(entersAsAsked(FrameType.CANCEL)).isFalse();
    assertThat(entersAsAsked(FrameType.REQUEST_N)).isFalse();
  }

  /// Whether an answer that is the last payload of what was sent goes to its memory.
  private boolean entersAsAsked(FrameType type) {
    StreamBodies.Stream sending = new StreamBodies.Stream(data -> DATA_HEAD, this::take);
    sending.opening(() -> bodies.sends(11, frame(11, type, 0, new byte[20])));
    boolean isEntered = bodies.headBytes(frame(11, FrameType.PAYLOAD, 0x60, new byte[100])) > 0;
    sending.close();
    return isEntered;
  }

  @Test
  void channel_isEnteredByTheThreadThatPassesItsShortRequestOn() {
    assertThat(entersChannel(100)).isTrue();
    assertThat(entersChannel(20_000)).isFalse(); // it may be opened while another one is passed on
  }

  private boolean entersChannel(int bytes) {
    StreamBodies.Stream channel = new StreamBodies.Stream(data -> DATA_HEAD, this::take);
    bodies.receives(frame(9, FrameType.REQUEST_CHANNEL, 0, new byte[bytes]), frame -> channel.opened());
    boolean isEntered = bodies.headBytes(frame(9, FrameType.PAYLOAD, 0x20, new byte[100])) > 0;
    channel.close();
    return isEntered;
  }

  /// The first 500 bytes of a frame have come.
  private FrameDecoder begun() {
    FrameDecoder decoder = new FrameDecoder(ledger, 1 << 20, length -> true, bodies);
    ByteBuf frame = frame(STREAM, FrameType.PAYLOAD, 0x20, new byte[20_000]);
    ByteBuf in = ByteBufAllocator.DEFAULT.directBuffer().writeMedium(frame.readableBytes()).writeBytes(frame, 500);
    decoder.feed(in, whole -> {});
    in.release();
    return decoder;
  }
}
