package io.penstock.wire;

import static io.penstock.wire.Fuzz.ALL;
import static io.penstock.wire.Fuzz.KEYS;
import static io.penstock.wire.Fuzz.LAYOUT;
import static io.penstock.wire.Fuzz.SLICE_BYTES;
import static io.penstock.wire.Fuzz.SPACE;
import static io.penstock.wire.Fuzz.each;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.block.BlockKey;
import io.penstock.tier.Presence;
import io.penstock.wire.protocol.ControlCodec;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.EventMessage;
import io.penstock.wire.protocol.Handshake;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.PutMessages;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.slice.Mutation;
import io.penstock.wire.slice.SliceHeader;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// 15,000 broken slice headers and control messages: each is refused by a typed error, or says nothing that is out of
/// range.
@Timeout(120)
final class MessageFuzzTest {
  private final List<List<byte[]>> streams = Fuzz.streams(Fuzz.shapes());

  @Test
  void header_mutated_isRefusedOrHonest() {
    each(0, 10_000, this::header);
  }

  @Test
  void controlMessage_mutated_isRefusedOrWhole() {
    each(1_000_000, 5_000, MessageFuzzTest::control);
  }

  @Tag("proof")
  @Timeout(1200)
  @Test
  void everyMessage_mutatedMillionsOfTimes_isRefusedOrRight() {
    each(10_000_000, 1_500_000, this::header);
    each(20_000_000, 500_000, MessageFuzzTest::control);
  }

  private void header(SplittableRandom random) {
    List<byte[]> stream = streams.get(random.nextInt(streams.size()));
    byte[] bytes = Mutation.of(stream.get(random.nextInt(stream.size())), random);
    if (random.nextBoolean()) {
      Mutation.withHeaderChecksum(bytes);
    }
    ByteBuf data = Unpooled.wrappedBuffer(bytes);
    int maxSliceBytes = SLICE_BYTES[random.nextInt(SLICE_BYTES.length)];
    try {
      SliceHeader header = SliceHeader.decode(data, SPACE.id(), LAYOUT, maxSliceBytes, KEYS);
      header.range().requireInside(LAYOUT);
      assertEquals(bytes.length, header.bytes() + header.positions().length * header.range().bytes(LAYOUT));
      assertTrue(bytes.length - header.bytes() <= maxSliceBytes);
      assertEquals(header.positions().length,
          Arrays.stream(header.positions()).distinct().filter(p -> p >= 0 && p < KEYS).count());
      assertEquals(header.positions().length, header.checksums().length);
    } catch (WireFormatException e) {
      assertTrue(e.field().startsWith("slice"), e.toString());
    }
    assertEquals(0, data.readerIndex());
    data.release();
  }

  private static void control(SplittableRandom random) {
    Object message = message(random);
    ControlCodec codec = random.nextBoolean() ? ControlCodec.CBOR : ControlCodec.JSON;
    ByteBuf good = codec.encode(message, UnpooledByteBufAllocator.DEFAULT);
    byte[] bytes = new byte[good.readableBytes()];
    good.readBytes(bytes).release();
    ByteBuf data = Unpooled.wrappedBuffer(Mutation.of(bytes, random));
    try {
      use(codec.decode(data, message.getClass()));
    } catch (WireFormatException e) {
      assertTrue(e.getMessage() != null && e.code() != ErrorCode.BAD_SLICE, e.toString());
    } catch (IllegalArgumentException e) { // a shape that no layout has: a server refuses it as a bad request
      assertTrue(message instanceof Handshake.Hello, e.toString());
    }
    data.release();
  }

  private static Messages.Bits bits(SplittableRandom random) {
    return Messages.Bits.of(Presence.of(KEYS, BitSet.valueOf(new long[] {random.nextLong(1 << KEYS)})));
  }

  private static Object message(SplittableRandom random) {
    Messages.Keys keys = Messages.Keys.of(ALL);
    return switch (random.nextInt(12)) {
      case 0 -> new Handshake.Hello(List.of(1), Handshake.Space.of(SPACE), "fuzz");
      case 1 -> new Handshake.Welcome(1, "server", "node", "tier", Handshake.Space.of(SPACE), 4096, 8, 100, null, null);
      case 2 -> new Messages.KeysRequest(keys);
      case 3 -> new Messages.MatchReply(3);
      case 4 -> bits(random);
      case 5 -> new Messages.GetRequest(keys, "ADMIT", "LAYER_FIRST", 0, 4096, 8, 7);
      case 6 -> new Messages.Found(bits(random), bits(random), bits(random), bits(random));
      case 7 -> new PutMessages.PutRequest(keys, 4096, 8, 7);
      case 8 ->
        new PutMessages.PutSignal(new PutMessages.Room(1, 2, Messages.Bits.of(Presence.of(4, new BitSet()))), null);
      case 9 -> new PutMessages.PutSignal(null, List.of(new PutMessages.Stored(1, "dram", "VOLATILE", 17)));
      case 10 -> new EventMessage(5, "moved", new byte[BlockKey.BYTES], null, null,
          List.of(new EventMessage.LevelName("ssd", "DISK")), List.of(new EventMessage.LevelName("dram", "HOST")));
      default -> new Messages.DrainRequest(7);
    };
  }

  /// What either side does with a message that it could read.
  private static void use(Object message) {
    switch (message) {
      case Handshake.Hello hello when hello.space() != null -> hello.space().difference(SPACE);
      case Handshake.Welcome welcome -> welcome.space().spaceId();
      case Messages.KeysRequest request -> request.keys().in(SPACE.id(), KEYS);
      case Messages.MatchReply reply -> reply.of(KEYS);
      case Messages.Bits bits -> bits.of(KEYS);
      case Messages.GetRequest request -> {
        request.keys().in(SPACE.id(), KEYS);
        request.miss();
        request.sliceOrder();
      }
      case Messages.Found found -> {
        found.requireOf(KEYS);
        assertTrue(found.coming().length() <= KEYS);
      }
      case PutMessages.PutRequest request -> request.keys().in(SPACE.id(), KEYS);
      case PutMessages.PutSignal signal when signal.room() != null -> signal.room().requireIn(KEYS, KEYS);
      case PutMessages.PutSignal signal when signal.stored() != null ->
        signal.stored().forEach(stored -> stored.receipt(ALL));
      case EventMessage event -> event.event();
      default -> {
      }
    }
  }
}
