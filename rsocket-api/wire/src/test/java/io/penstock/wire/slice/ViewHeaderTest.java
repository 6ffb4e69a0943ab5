package io.penstock.wire.slice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.block.Block;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.BlockView;
import io.penstock.block.LayerSlice;
import io.penstock.block.Plane;
import io.penstock.block.SlabArena;
import io.penstock.block.SpaceId;
import io.penstock.check.Checksum;
import io.penstock.testkit.ReshardedModel;
import io.penstock.testkit.ReshardedModel.Rank;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.WireFormatException;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Headers of slices of a view: honest ones are read as they were meant, all others are refused.
final class ViewHeaderTest {
  private static final Rank RANK = new ReshardedModel(4, 4,
      List.of(new Plane(Plane.Kind.KEY, Plane.ElementType.BF16, 1, 4),
          new Plane(Plane.Kind.VALUE, Plane.ElementType.BF16, 1, 4)))
      .rank(0, 4, 0, 4, 8, TokenOrder.NHD);
  private static final BlockLayout LAYOUT = RANK.layout();
  private static final SpaceId SPACE = RANK.space().id();
  private static final BlockView ASKED = BlockView.of(LAYOUT, 1, 2, 1, 2, 2, 4);
  private static final int KEYS = 3;

  private static ByteBuf packed() {
    try (SlabArena arena = new SlabArena("a", LAYOUT, 1, 1);
        Block block = RANK.block(arena, 0);
        LayerSlice slice = new LayerSlice(new LayerSlice.Position(0, 0), ASKED, new int[] {2},
            List.of(block.span(ASKED.granules())))) {
      return SliceHeader.pack(slice, SPACE, LAYOUT, UnpooledByteBufAllocator.DEFAULT);
    }
  }

  private static SliceHeader decode(ByteBuf data) {
    return SliceHeader.decode(data, SPACE, LAYOUT, ASKED, 4096, KEYS);
  }

  /// Makes the header's own checksum right again.
  private static ByteBuf sealed(ByteBuf data) {
    int length = Math.clamp(data.getIntLE(SliceHeader.HEADER_BYTES_OFFSET), 16, data.readableBytes());
    data.setIntLE(SliceHeader.HEADER_CRC_OFFSET, 0);
    return data.setIntLE(SliceHeader.HEADER_CRC_OFFSET, Checksum.of(data.nioBuffer(0, length)));
  }

  @Test
  void aHeader_isReadAsItWasWritten() {
    ByteBuf data = packed();
    SliceHeader header = decode(data);
    assertThat(header.view()).isEqualTo(ASKED);
    assertThat(header.positions()).containsExactly(2);
    assertThat(header.checksums()[0]).hasSize(ASKED.granules().count());
    assertThat(data.readableBytes() - header.bytes()).isEqualTo(ASKED.bytes(LAYOUT));
    assertThatThrownBy(() -> SliceHeader.decode(data, SPACE, LAYOUT, 4096, KEYS))
        .isInstanceOf(WireFormatException.class).hasMessageContaining("flags");
    data.release();
  }

  @ParameterizedTest
  @CsvSource({"6, 0", "6, 1", "6, 3", "6, 65535"})
  void otherFlags_areRefused(int offset, int value) {
    refused(packed().setShortLE(offset, value));
  }

  /// Offset and value of a field: outside of what was asked, beyond what an `int` holds, or of another size.
  @ParameterizedTest
  @CsvSource({"8, 80", "8, 0", "8, 2147483647", "44, 0", "44, 5", "44, 2147483647", "44, -1", "48, 1", "48, 6",
    "48, -1", "48, 2147483647", "52, 0", "52, 5", "52, -1", "52, 2147483647", "72, 0", "72, 2", "72, -1", "76, 1",
    "76, 3", "76, 0", "76, 2147483647", "56, 0", "56, 2", "56, 2147483647", "64, 0", "64, 2147483647", "80, 3",
    "80, -1", "60, 1"})
  void aFieldThatBreaksItsRule_isRefused(int offset, int value) {
    refused(packed().setIntLE(offset, value));
  }

  @ParameterizedTest
  @CsvSource({"40, 0", "40, 3", "40, 65535", "42, 1", "42, 2"})
  void granulesOutsideTheView_areRefused(int offset, int value) {
    refused(packed().setShortLE(offset, value));
  }

  private static void refused(ByteBuf data) {
    sealed(data);
    assertThatThrownBy(() -> decode(data)).isInstanceOf(WireFormatException.class);
    data.release();
  }

  @Test
  void randomHeaders_areReadOrRefused_neverAnythingElse() {
    for (int seed = 0; seed < 2_000; seed++) {
      Random random = new Random(seed);
      ByteBuf data = packed();
      for (int i = 0; i <= random.nextInt(3); i++) {
        int offset = 4 * (1 + random.nextInt(data.readableBytes() / 4 - 1));
        data.setIntLE(offset, random.nextBoolean() ? random.nextInt() : random.nextInt(10));
      }
      try {
        SliceHeader header = decode(sealed(data));
        assertThat(ASKED.contains(header.requireView())).as("seed %d", seed).isTrue();
      } catch (WireFormatException expected) {
        assertThat(expected.code()).as("seed %d", seed).isIn(ErrorCode.BAD_SLICE, ErrorCode.SPACE_MISMATCH);
      } finally {
        data.release();
      }
    }
  }
}
