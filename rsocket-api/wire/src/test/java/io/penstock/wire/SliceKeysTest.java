package io.penstock.wire;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.slice.SliceHeader;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/// A key that changes on its way must not take the bytes of another: a node once stored a block under a key with one
/// bit turned over.
final class SliceKeysTest {
  private static final BlockLayout LAYOUT = BlockLayout.attention(1, 4, 1, 8, ElementType.INT8);
  private static final CacheSpace SPACE = CacheSpace.of("keys", LAYOUT);
  private static final BlockKey FIRST = SPACE.key(new BlockHash(1, 2));
  private static final BlockKey SECOND = SPACE.key(new BlockHash(1, 3));

  @Test
  void slice_ofTheSameKeys_isTaken() {
    assertThatCode(() -> header(List.of(FIRST, SECOND)).requireKeys(List.of(FIRST, SECOND))).doesNotThrowAnyException();
  }

  @Test
  void slice_ofAKeyWithOneBitTurnedOver_isRefused() {
    for (int bit = 0; bit < 64; bit++) {
      BlockKey damaged = SPACE.key(new BlockHash(1, 3 ^ 1L << bit));
      assertThatThrownBy(() -> header(List.of(FIRST, SECOND)).requireKeys(List.of(FIRST, damaged)))
          .isInstanceOf(WireFormatException.class).hasMessageContaining("keys CRC32C");
    }
  }

  @Test
  void slice_ofTheSameKeysInAnotherOrder_isRefused() {
    assertThatThrownBy(() -> header(List.of(FIRST, SECOND)).requireKeys(List.of(SECOND, FIRST)))
        .isInstanceOf(WireFormatException.class);
  }

  private static SliceHeader header(List<BlockKey> keys) {
    try (SlabArena arena = new SlabArena("keys", LAYOUT, 2, 1)) {
      List<BlockDraft> drafts = Objects.requireNonNull(arena.tryClaim(keys));
      GranuleRange all = GranuleRange.all(LAYOUT);
      drafts.forEach(draft -> draft.produced(all));
      ByteBuf data;
      try (LayerSlice slice =
          new LayerSlice(new LayerSlice.Position(0, 0), all, new int[] {0, 1},
              drafts.stream().map(draft -> draft.span(all)).toList())) {
        ByteBuf header = SliceHeader.encode(slice, SPACE.id(), LAYOUT, UnpooledByteBufAllocator.DEFAULT);
        data = UnpooledByteBufAllocator.DEFAULT.buffer().writeBytes(header).writeZero(slice.bytes());
        header.release();
      }
      drafts.forEach(BlockDraft::close);
      try {
        return SliceHeader.decode(data, SPACE.id(), LAYOUT, 4096, keys.size());
      } finally {
        data.release();
      }
    }
  }
}
