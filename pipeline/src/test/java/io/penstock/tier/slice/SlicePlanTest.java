package io.penstock.tier.slice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.GranuleRange;
import io.penstock.block.Plane;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SliceShape;
import io.penstock.tier.slice.SlicePlan.Cut;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class SlicePlanTest {
  @ParameterizedTest
  @EnumSource(SliceShape.Order.class)
  void of_randomLayouts_coversEveryByteOnceInOrderAndBounded(SliceShape.Order order) {
    of_randomLayouts_coversEveryByteOnceInOrderAndBounded(order, 500);
  }

  @Tag("proof")
  @ParameterizedTest
  @EnumSource(SliceShape.Order.class)
  void of_randomLayouts_coversEveryByteOnceInOrderAndBounded_atLength(SliceShape.Order order) {
    of_randomLayouts_coversEveryByteOnceInOrderAndBounded(order, 3_000);
  }

  private void of_randomLayouts_coversEveryByteOnceInOrderAndBounded(SliceShape.Order order, int seeds) {
    for (int seed = 0; seed < seeds; seed++) {
      Random random = new Random(seed);
      BlockLayout layout = layout(random);
      int blocks = 1 + random.nextInt(9);
      int startLayer = random.nextInt(layout.layers());
      int maxBytes = largestRow(layout) + random.nextInt(1 + random.nextInt(2 * layout.blockBytes() * blocks));
      List<Cut> cuts = SlicePlan.of(layout, blocks, startLayer, maxBytes, order);
      String message =
          "seed %d: %s, %d blocks from layer %d in %d bytes".formatted(seed, layout, blocks, startLayer, maxBytes);
      assertThat(visits(layout, blocks, cuts)).as(message).isEqualTo(wanted(layout, blocks, startLayer));
      for (Cut cut : cuts) {
        assertThat((long) cut.blocks() * cut.range().bytes(layout)).as(message).isPositive()
            .isLessThanOrEqualTo(maxBytes);
        cut.range().requireInside(layout);
      }
      assertOrdered(cuts, order, message);
    }
  }

  @Test
  void of_everythingFits_isOneSlice() {
    BlockLayout layout = BlockLayout.attention(8, 16, 2, 16, ElementType.BF16);
    for (SliceShape.Order order : SliceShape.Order.values()) {
      assertThat(SlicePlan.of(layout, 3, 0, 3 * layout.blockBytes(), order))
          .containsExactly(new Cut(GranuleRange.whole(0, 16), 0, 3));
    }
  }

  @Test
  void of_oneByteTooFew_cutsAtALayerOrAtABlock() {
    BlockLayout layout = BlockLayout.attention(2, 16, 2, 16, ElementType.BF16);
    int max = 2 * layout.blockBytes() - 1;
    assertThat(SlicePlan.of(layout, 2, 0, max, SliceShape.Order.LAYER_FIRST)).containsExactly(
        new Cut(GranuleRange.whole(0, 2), 0, 2), new Cut(GranuleRange.whole(2, 2), 0, 2));
    assertThat(SlicePlan.of(layout, 2, 0, max, SliceShape.Order.BLOCK_FIRST)).containsExactly(
        new Cut(GranuleRange.whole(0, 4), 0, 1), new Cut(GranuleRange.whole(0, 4), 1, 1));
  }

  @Test
  void of_planesThatDoNotFit_areCutBetweenPlanesThenRows() {
    BlockLayout layout = BlockLayout.latent(1, 8, 16, 4, ElementType.BF16); // 256 and 64 bytes, rows of 32 and 8
    assertThat(SlicePlan.of(layout, 1, 0, 319, SliceShape.Order.LAYER_FIRST)).containsExactly(
        new Cut(GranuleRange.whole(0, 1), 0, 1), new Cut(GranuleRange.whole(1, 1), 0, 1));
    assertThat(SlicePlan.of(layout, 1, 0, 100, SliceShape.Order.LAYER_FIRST)).containsExactly(
        new Cut(GranuleRange.rows(0, 0, 3), 0, 1), new Cut(GranuleRange.rows(0, 3, 3), 0, 1),
        new Cut(GranuleRange.rows(0, 6, 2), 0, 1),
        new Cut(GranuleRange.whole(1, 1), 0, 1));
  }

  @Test
  void of_aRowThatDoesNotFit_isRefused() {
    BlockLayout layout = BlockLayout.latent(1, 8, 16, 4, ElementType.BF16);
    for (SliceShape.Order order : SliceShape.Order.values()) {
      assertThatThrownBy(() -> SlicePlan.of(layout, 1, 0, 31, order)).isInstanceOf(IllegalArgumentException.class)
          .hasMessage("maxBytes must be >= one row of 32 bytes (was 31)");
    }
  }

  @Test
  void of_hugeWindow_doesNotOverflow() {
    BlockLayout layout = BlockLayout.attention(1024, 512, 32, 32, ElementType.INT8); // 1 GiB a block
    List<Cut> cuts = SlicePlan.of(layout, 64, 0, Integer.MAX_VALUE, SliceShape.Order.LAYER_FIRST);
    assertThat(cuts.stream().mapToLong(cut -> (long) cut.blocks() * cut.range().bytes(layout)).sum())
        .isEqualTo(64L << 30);
    assertThat(SlicePlan.of(layout, 64, 0, Integer.MAX_VALUE, SliceShape.Order.BLOCK_FIRST)).hasSize(64);
  }

  @Test
  void of_wrongArguments_areRefusedByName() {
    BlockLayout layout = BlockLayout.attention(2, 1, 1, 1, ElementType.INT8);
    assertThatThrownBy(() -> SlicePlan.of(layout, 0, 0, 9, SliceShape.Order.LAYER_FIRST))
        .hasMessageContaining("blocks must be > 0");
    assertThatThrownBy(() -> SlicePlan.of(layout, 1, 2, 9, SliceShape.Order.LAYER_FIRST))
        .hasMessageContaining("startLayer must be in [0, 2)");
    assertThatThrownBy(() -> SlicePlan.of(layout, 1, 0, 0, SliceShape.Order.LAYER_FIRST))
        .hasMessageContaining("maxBytes must be > 0");
  }

  private static BlockLayout layout(Random random) {
    int planes = 1 + random.nextInt(4);
    TokenOrder order = random.nextBoolean() ? TokenOrder.NHD : TokenOrder.HND;
    return new BlockLayout(1 + random.nextInt(6), 1 + random.nextInt(9), order, IntStream.range(0, planes)
        .mapToObj(i -> new Plane(Plane.Kind.values()[random.nextInt(6)], ElementType.values()[random.nextInt(6)],
            1 + random.nextInt(4), 1 + random.nextInt(9)))
        .toList());
  }

  private static int largestRow(BlockLayout layout) {
    return IntStream.range(0, layout.granules()).map(layout::rowBytes).max().orElseThrow();
  }

  /// How often each byte of each block is carried.
  private static int[][] visits(BlockLayout layout, int blocks, List<Cut> cuts) {
    int[][] visits = new int[blocks][layout.blockBytes()];
    for (Cut cut : cuts) {
      int from = cut.range().offset(layout);
      for (int block = cut.firstBlock(); block < cut.firstBlock() + cut.blocks(); block++) {
        for (int at = from; at < from + cut.range().bytes(layout); at++) {
          visits[block][at]++;
        }
      }
    }
    return visits;
  }

  private static int[][] wanted(BlockLayout layout, int blocks, int startLayer) {
    int[][] once = new int[blocks][layout.blockBytes()];
    for (int[] block : once) {
      java.util.Arrays.fill(block, startLayer * layout.layerBytes(), block.length, 1);
    }
    return once;
  }

  /// Within a block, granules and rows only grow; across blocks the outer axis is the order's.
  private static void assertOrdered(List<Cut> cuts, SliceShape.Order order, String message) {
    List<long[]> places = new ArrayList<>();
    for (Cut cut : cuts) {
      long inside = ((long) cut.range().first() << 16) + cut.range().firstRow();
      places.add(order == SliceShape.Order.LAYER_FIRST
          ? new long[] {inside, cut.firstBlock()}
          : new long[] {cut.firstBlock(), inside});
    }
    for (int i = 1; i < places.size(); i++) {
      assertThat(java.util.Arrays.compare(places.get(i - 1), places.get(i))).as(message).isNegative();
    }
  }
}
