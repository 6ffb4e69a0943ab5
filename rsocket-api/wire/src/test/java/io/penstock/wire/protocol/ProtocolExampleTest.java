package io.penstock.wire.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.PrefixHasher;
import io.penstock.block.SlabArena;
import io.penstock.check.Checksum;
import io.penstock.wire.region.RegionMessages;
import io.penstock.wire.slice.SliceHeader;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// The worked example of `PROTOCOL.md` is what the code writes.
final class ProtocolExampleTest {
  private static final BlockLayout LAYOUT = BlockLayout.attention(2, 2, 1, 4, ElementType.INT8);
  private static final CacheSpace SPACE = CacheSpace.of("example", LAYOUT);
  private static final BlockKey KEY = SPACE.key(new PrefixHasher(List.of()).next(BlockHash.ROOT, new int[] {1, 2}));
  private static final ByteBufAllocator HEAP = ByteBufAllocator.DEFAULT;

  private final SlabArena arena = new SlabArena("example", LAYOUT, 1, 1);

  @AfterEach
  void close() {
    arena.close();
  }

  @Test
  void example_isWhatTheCodeWrites() throws IOException {
    assertExample("space", key -> Unpooled.wrappedBuffer(key, 0, 16), HEAP);
    assertExample("key", Unpooled::wrappedBuffer, HEAP);
    assertHex("match", ControlCodec.CBOR.encode(new Messages.KeysRequest(Messages.Keys.of(List.of(KEY))), HEAP));
    assertHex("metadata", RequestMetadata.write(Routes.MATCH, HEAP));
    assertHex("reply", ControlCodec.CBOR.encode(new Messages.MatchReply(1), HEAP));
    assertHex("slice", slice());
    assertHex("segment-slice", segmentSlice());
    assertHex("region", ControlCodec.CBOR.encode(
        new RegionMessages.RegionRequest(Fields.bytes(SPACE.id()), "/dev/shm/engine", 64 << 20, 1 << 20, null,
            null),
        HEAP));
    assertHex("store", ControlCodec.CBOR.encode(new RegionMessages.SlotsRequest(1, Messages.Keys.of(List.of(KEY)),
        new byte[] {5, 0, 0, 0}, 0, 400L, null), HEAP));
    assertHex("slots-reply", ControlCodec.CBOR.encode(new RegionMessages.SlotsReply(2, new byte[] {1},
        List.of(new PutMessages.Failed(1, -200))), HEAP));
    assertHex("error", Unpooled.copiedBuffer(refusal(), StandardCharsets.UTF_8));
  }

  /// What a node that keeps blocks of 2 tokens says to a client whose blocks have 4.
  private static String refusal() {
    Handshake.Space theirs = Handshake.Space.of(CacheSpace.of("example",
        BlockLayout.attention(2, 4, 1, 4, ElementType.INT8)));
    Handshake.Hello hello = new Handshake.Hello(List.of(1), theirs, "client");
    Throwable refused = assertThrows(WireFormatException.class, () -> hello.requireFits(SPACE));
    return String.valueOf(WireErrors.toWire(refused).getMessage());
  }

  private interface Part {
    ByteBuf of(byte[] key);
  }

  private static void assertExample(String name, Part part, ByteBufAllocator allocator) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(BlockKey.BYTES);
    KEY.write(bytes);
    assertHex(name, allocator.buffer().writeBytes(part.of(bytes.array())));
  }

  private ByteBuf slice() {
    BlockDraft draft = Objects.requireNonNull(arena.tryClaim(List.of(KEY))).getFirst();
    draft.write(GranuleRange.all(LAYOUT), memory -> {
      for (int i = 0; i < memory.byteSize(); i++) {
        memory.set(ValueLayout.JAVA_BYTE, i, (byte) i);
      }
    });
    draft.produced(GranuleRange.all(LAYOUT));
    GranuleRange layer0 = GranuleRange.whole(0, 2);
    try (draft;
        LayerSlice slice =
            new LayerSlice(new LayerSlice.Position(0, 1), layer0, new int[] {0}, List.of(draft.span(layer0)))) {
      ByteBuf header = SliceHeader.encode(slice, SPACE.id(), LAYOUT, HEAP);
      return Unpooled.wrappedBuffer(header, HEAP.buffer().writeBytes(slice.spans().getFirst().buffer()));
    }
  }

  private static ByteBuf segmentSlice() {
    byte[] bytes = {0, 1, 2, 3, 4, 5, 6, 7};
    ByteBuf header = new SegmentSlice(1, 5, 2, 64, bytes.length, Checksum.of(ByteBuffer.wrap(bytes))).encode(HEAP);
    return Unpooled.wrappedBuffer(header, Unpooled.wrappedBuffer(bytes));
  }

  private static void assertHex(String name, ByteBuf actual) throws IOException {
    try {
      Matcher block = Pattern.compile("```hex " + name + "\n(.*?)```", Pattern.DOTALL)
          .matcher(Files.readString(Path.of("PROTOCOL.md")));
      assertTrue(block.find(), "PROTOCOL.md must have an example " + name);
      String written = ByteBufUtil.hexDump(actual);
      assertEquals(block.group(1).replaceAll("\\s", ""), written,
          "example " + name + " of PROTOCOL.md:\n" + lines(written));
    } finally {
      actual.release();
    }
  }

  /// 16 bytes a line.
  private static String lines(String hex) {
    return hex.replaceAll("(..)", "$1 ").replaceAll("((?:.. ){16})", "$1\n").replaceAll(" \n", "\n").strip();
  }
}
