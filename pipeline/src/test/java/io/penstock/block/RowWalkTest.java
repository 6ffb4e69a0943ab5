package io.penstock.block;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.Plane.ElementType;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class RowWalkTest {
  /// Planes of unlike width: rows of 8 and 4 bytes.
  private static final BlockLayout LAYOUT = BlockLayout.latent(3, 2, 4, 2, ElementType.BF16);

  private static List<String> walk(BlockLayout layout, GranuleRange range) {
    MemorySegment memory = MemorySegment.ofArray(new byte[range.bytes(layout)]);
    List<String> rows = new ArrayList<>();
    layout.forEachRow(range, memory, (layer, plane, row, bytes) -> rows
        .add(layer + "." + plane + "." + row + "@" + bytes.address() + "+" + bytes.byteSize()));
    return rows;
  }

  @Test
  void wholeGranules_areWalkedRowByRow_inMemoryOrder() {
    assertThat(walk(LAYOUT, GranuleRange.whole(1, 2))).containsExactly("0.1.0@0+4", "0.1.1@4+4", "1.0.0@8+8",
        "1.0.1@16+8");
  }

  @Test
  void rowsInsideAGranule_keepTheirNumbers() {
    assertThat(walk(LAYOUT, GranuleRange.rows(4, 1, 1))).containsExactly("2.0.1@0+8");
    BlockLayout heads = BlockLayout.attention(1, 5, 3, 2, ElementType.INT8).withOrder(TokenOrder.HND);
    assertThat(walk(heads, GranuleRange.whole(1, 1))).containsExactly("0.1.0@0+10", "0.1.1@10+10", "0.1.2@20+10");
  }

  @Test
  void layerAndPlane_areTheInverseOfGranule() {
    for (int granule = 0; granule < LAYOUT.granules(); granule++) {
      assertThat(LAYOUT.granule(LAYOUT.layerOf(granule), LAYOUT.planeOf(granule))).isEqualTo(granule);
    }
    assertThatThrownBy(() -> LAYOUT.layerOf(6)).isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void memoryOfAnotherLength_isRefused() {
    assertThatThrownBy(() -> LAYOUT.forEachRow(GranuleRange.whole(0, 1), MemorySegment.ofArray(new byte[15]),
        (layer, plane, row, bytes) -> {})).isInstanceOf(IllegalArgumentException.class)
        .hasMessage("memory must have 16 bytes (was 15)");
  }

  @Test
  void keysOfTokens_areThoseOfItsWholeBlocks() {
    CacheSpace space = CacheSpace.of("m", LAYOUT);
    PrefixHasher hasher = new PrefixHasher(List.of());
    BlockHash first = hasher.next(BlockHash.ROOT, new int[] {1, 2});

    assertThat(space.keys(new int[] {1, 2, 3, 4, 5})).containsExactly(space.key(first),
        space.key(hasher.next(first, new int[] {3, 4})));
    assertThat(space.keys(new int[] {1})).isEmpty();
  }

  @Test
  void fingerprint_makesAnotherSpace_andNoneChangesNothing() {
    CacheSpace plain = CacheSpace.of("m", LAYOUT);

    assertThat(plain.withFingerprint("")).isEqualTo(plain);
    assertThat(plain.withFingerprint("a")).isNotEqualTo(plain).isNotEqualTo(plain.withFingerprint("b"))
        .isEqualTo(plain.withFingerprint("a"));
    assertThat(plain.withFingerprint("a").withShard(plain.shard()).fingerprint()).isEqualTo("a");
    assertThat(plain.withFingerprint("a").difference(plain).orElseThrow().field()).isEqualTo("fingerprint");
    assertThat(plain.withFingerprint("a").viewDifference(plain).orElseThrow().field()).isEqualTo("fingerprint");
  }
}
