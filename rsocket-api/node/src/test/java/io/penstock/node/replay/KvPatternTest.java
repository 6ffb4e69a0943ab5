package io.penstock.node.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.GranuleRange;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SpaceId;
import io.penstock.node.content.KvPattern;
import io.penstock.node.shape.BlockShape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class KvPatternTest {
  private static final BlockKey KEY = new BlockKey(new SpaceId(1, 2), new BlockHash(3, 4));
  private static final BlockLayout LAYOUT = BlockShape.of(4 << 10, 4).layout();
  private static final GranuleRange ALL = GranuleRange.all(LAYOUT);

  @Test
  void fill_thenCompare_agrees() {
    try (Arena arena = Arena.ofConfined()) {
      assertThat(KvPattern.mismatch(KEY, LAYOUT, ALL, filled(arena, KEY))).isEqualTo(-1);
    }
  }

  @Test
  void fill_isTheSameOnEveryMachine() {
    try (Arena arena = Arena.ofConfined()) {
      byte[] first = filled(arena, KEY).asSlice(0, 16).toArray(ValueLayout.JAVA_BYTE);

      assertThat(HexFormat.of().formatHex(first)).isEqualTo("dd83c82cd8211f1bbcd5c8b9979b56b9");
    }
  }

  @Test
  void compare_anyFlippedBit_isFoundWhereItIs() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment block = filled(arena, KEY);
      for (int bit = 0; bit < 8 * LAYOUT.blockBytes(); bit++) {
        flip(block, bit);
        assertThat(KvPattern.mismatch(KEY, LAYOUT, ALL, block)).as("bit %d", bit).isEqualTo(bit / 64 * 8);
        flip(block, bit);
      }
    }
  }

  @Test
  void compare_anotherKeySpaceOrLayer_differs() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment block = filled(arena, KEY);

      assertThat(KvPattern.mismatch(new BlockKey(KEY.space(), new BlockHash(3, 5)), LAYOUT, ALL, block)).isZero();
      assertThat(KvPattern.mismatch(new BlockKey(KEY.space(), new BlockHash(4, 4)), LAYOUT, ALL, block)).isZero();
      assertThat(KvPattern.mismatch(new BlockKey(new SpaceId(1, 3), KEY.hash()), LAYOUT, ALL, block)).isZero();
      GranuleRange second = GranuleRange.layers(LAYOUT, 1, 2);
      assertThat(KvPattern.mismatch(KEY, LAYOUT, second, block.asSlice(0, LAYOUT.layerBytes()))).isZero();
    }
  }

  @Test
  void words_ofABlock_areAllDifferent() {
    try (Arena arena = Arena.ofConfined()) {
      Set<Long> words = new HashSet<>();
      MemorySegment block = filled(arena, KEY);
      for (long at = 0; at < block.byteSize(); at += 8) {
        words.add(block.get(ValueLayout.JAVA_LONG_UNALIGNED, at));
      }
      assertThat(words).hasSize(LAYOUT.blockBytes() / 8);
    }
  }

  @Test
  void anyRange_isAPartOfTheWholeBlock() {
    // Rows of 3 bytes, layers of 30: nothing is aligned
    BlockLayout odd = BlockLayout.attention(3, 5, 1, 3, ElementType.INT8);
    Random random = new Random(11);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment block = arena.allocate(odd.blockBytes());
      KvPattern.fill(KEY, odd, GranuleRange.all(odd), block);
      for (int i = 0; i < 500; i++) {
        GranuleRange range = range(odd, random);
        MemorySegment part = arena.allocate(range.bytes(odd));
        KvPattern.fill(KEY, odd, range, part);

        assertThat(part.mismatch(block.asSlice(range.offset(odd), range.bytes(odd)))).as("%s", range).isEqualTo(-1);
        assertThat(KvPattern.mismatch(KEY, odd, range, part)).as("%s", range).isEqualTo(-1);
        flip(part, random.nextInt(8 * range.bytes(odd)));
        assertThat(KvPattern.mismatch(KEY, odd, range, part)).as("%s", range).isNotNegative();
      }
    }
  }

  private static GranuleRange range(BlockLayout layout, Random random) {
    int first = random.nextInt(layout.granules());
    if (random.nextBoolean()) {
      return GranuleRange.whole(first, 1 + random.nextInt(layout.granules() - first));
    }
    int row = random.nextInt(layout.rows(first));
    return GranuleRange.rows(first, row, 1 + random.nextInt(layout.rows(first) - row));
  }

  private static MemorySegment filled(Arena arena, BlockKey key) {
    MemorySegment block = arena.allocate(LAYOUT.blockBytes());
    KvPattern.fill(key, LAYOUT, ALL, block);
    return block;
  }

  private static void flip(MemorySegment bytes, int bit) {
    byte old = bytes.get(ValueLayout.JAVA_BYTE, bit / 8);
    bytes.set(ValueLayout.JAVA_BYTE, bit / 8, (byte) (old ^ (1 << bit % 8)));
  }
}
