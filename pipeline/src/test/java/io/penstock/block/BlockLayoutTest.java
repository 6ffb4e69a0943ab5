package io.penstock.block;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.Plane.ElementType;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

final class BlockLayoutTest {
  private static final int INT_MAX = Integer.MAX_VALUE;

  @Test
  void attention_hasAKeyAndAValuePlane() {
    BlockLayout layout = BlockLayout.attention(80, 16, 8, 128, ElementType.BF16); // Llama 3 70B
    assertThat(layout.planeBytes(0)).isEqualTo(16 * 8 * 128 * 2).isEqualTo(layout.planeBytes(1));
    assertThat(layout.blockBytes()).isEqualTo(80 * 2 * 32_768);
    assertThat(layout.granules()).isEqualTo(160);
    assertThat(layout.granuleOffset(159)).isEqualTo(layout.blockBytes() - 32_768);
    assertThat(layout.granuleOffset(160)).isEqualTo(layout.blockBytes());
  }

  @Test
  void latent_hasPlanesOfUnequalWidth() {
    BlockLayout layout = BlockLayout.latent(61, 64, 512, 64, ElementType.BF16); // DeepSeek-V3
    assertThat(layout.granuleBytes(0)).isEqualTo(64 * 512 * 2);
    assertThat(layout.granuleBytes(1)).isEqualTo(64 * 64 * 2);
    assertThat(layout.granuleBytes(2)).isEqualTo(layout.granuleBytes(0));
    assertThat(layout.granuleOffset(3)).isEqualTo(layout.layerBytes() + layout.granuleBytes(0));
    assertThat(layout.layerBytes()).isEqualTo(64 * 576 * 2);
    assertThat(layout.rowBytes(1)).isEqualTo(128);
  }

  @ParameterizedTest
  @CsvSource({"BF16,2", "FP16,2", "FP32,4", "FP8_E4M3,1", "FP8_E5M2,1", "INT8,1"})
  void elementType_setsTheWidth(ElementType type, int bytes) {
    assertThat(type.bytes()).isEqualTo(bytes);
    assertThat(BlockLayout.attention(3, 5, 7, 11, type).blockBytes()).isEqualTo(3 * 2 * 5 * 7 * 11 * bytes);
  }

  @ParameterizedTest
  @EnumSource(TokenOrder.class)
  void rows_areTheOuterAxis(TokenOrder order) {
    BlockLayout layout = BlockLayout.attention(2, 16, 8, 128, ElementType.BF16).withOrder(order);
    assertThat(layout.rows(1)).isEqualTo(order == TokenOrder.NHD ? 16 : 8);
    for (int granule = 0; granule < layout.granules(); granule++) {
      assertThat(layout.rows(granule) * layout.rowBytes(granule)).isEqualTo(layout.granuleBytes(granule));
    }
  }

  @Test
  void rows_ofPlanesWithDifferentHeads_differUnderHnd() {
    BlockLayout layout =
        new BlockLayout(2, 4, TokenOrder.HND, List.of(new Plane(Plane.Kind.KEY, ElementType.INT8, 8, 16),
            new Plane(Plane.Kind.SCALES, ElementType.FP32, 1, 8)));
    assertThat(layout.rows(2)).isEqualTo(8);
    assertThat(layout.rows(3)).isEqualTo(1);
    assertThat(layout.rowBytes(3)).isEqualTo(4 * 8 * 4);
  }

  @Test
  void granules_coverTheBlockWithoutAGap() {
    BlockLayout layout =
        new BlockLayout(3, 7, TokenOrder.NHD, List.of(new Plane(Plane.Kind.LATENT, ElementType.FP8_E4M3, 1, 33),
            new Plane(Plane.Kind.SCALES, ElementType.FP32, 1, 1), new Plane(Plane.Kind.ROPE, ElementType.BF16, 1, 5)));
    int end = 0;
    for (int granule = 0; granule < layout.granules(); granule++) {
      assertThat(layout.granuleOffset(granule)).isEqualTo(end);
      assertThat(layout.granule(granule / 3, granule % 3)).isEqualTo(granule);
      end += layout.granuleBytes(granule);
    }
    assertThat(end).isEqualTo(layout.blockBytes());
    assertThatThrownBy(() -> layout.granule(3, 0)).isInstanceOf(IndexOutOfBoundsException.class)
        .hasMessageContaining("layer must be in [0, 3)");
    assertThatThrownBy(() -> layout.granule(0, 3)).isInstanceOf(IndexOutOfBoundsException.class)
        .hasMessageContaining("plane must be in [0, 3)");
  }

  /// Every product wraps round an `int` or a `long` somewhere.
  @ParameterizedTest
  @CsvSource({"65536,1,1,32768", "2,1073741824,1,1", "1,2,1073741824,1", "1,1,65536,65536", "2147483647,2147483647,1,1",
    "2147483647,2147483647,2147483647,2147483647", "1,2147483647,2147483647,1", "4,65536,65536,1", "1025,1024,512,1"})
  void blockBytes_beyondOneGibibyte_areRefused(int layers, int tokens, int heads, int width) {
    assertThatThrownBy(() -> BlockLayout.attention(layers, tokens, heads, width, ElementType.FP32))
        .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("must be <= 1 GiB");
  }

  @Test
  void blockBytes_thatSumToAMultipleOfTwoToThe64_areRefused() {
    Plane half = new Plane(Plane.Kind.KEY, ElementType.INT8, 1, 1 << 20);
    for (int planes : new int[] {1, 2, 4, 8, 4096}) {
      assertThatThrownBy(() -> new BlockLayout(INT_MAX, 1 << 10, TokenOrder.NHD, Collections.nCopies(planes, half)))
          .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("must be <= 1 GiB");
    }
  }

  @Test
  void blockBytes_ofExactlyOneGibibyte_areAccepted() {
    assertThat(BlockLayout.attention(1024, 512, 32, 32, ElementType.INT8).blockBytes()).isEqualTo(1 << 30);
  }

  @Test
  void arguments_thatAreNotPositive_areRefusedByName() {
    assertThatThrownBy(() -> BlockLayout.attention(0, 1, 1, 1, ElementType.INT8))
        .hasMessage("layers must be > 0 (was 0)");
    assertThatThrownBy(() -> BlockLayout.attention(1, -1, 1, 1, ElementType.INT8))
        .hasMessage("tokens must be > 0 (was -1)");
    assertThatThrownBy(() -> BlockLayout.attention(1, 1, 0, 1, ElementType.INT8))
        .hasMessage("heads must be > 0 (was 0)");
    assertThatThrownBy(() -> BlockLayout.attention(1, 1, 1, 0, ElementType.INT8))
        .hasMessage("width must be > 0 (was 0)");
    assertThatThrownBy(() -> new BlockLayout(1, 1, TokenOrder.NHD, List.of())).hasMessage("planes must not be empty");
  }

  @Test
  void granuleRange_knowsItsPlace() {
    BlockLayout layout = BlockLayout.latent(4, 8, 16, 4, ElementType.BF16); // granules of 256 and 64 bytes
    GranuleRange two = GranuleRange.layers(layout, 1, 3);
    assertThat(two).isEqualTo(GranuleRange.whole(2, 4));
    assertThat(two.offset(layout)).isEqualTo(320);
    assertThat(two.bytes(layout)).isEqualTo(640);
    GranuleRange rows = GranuleRange.rows(3, 2, 5);
    assertThat(rows.offset(layout)).isEqualTo(320 + 256 + 2 * 8);
    assertThat(rows.bytes(layout)).isEqualTo(5 * 8);
    assertThat(GranuleRange.all(layout).bytes(layout)).isEqualTo(layout.blockBytes());
  }

  @Test
  void granuleRange_containsPartsOnly() {
    GranuleRange some = GranuleRange.whole(2, 3);
    assertThat(some.contains(some)).isTrue();
    assertThat(some.contains(GranuleRange.whole(4, 1))).isTrue();
    assertThat(some.contains(GranuleRange.whole(4, 2))).isFalse();
    assertThat(some.contains(GranuleRange.whole(1, 2))).isFalse();
    assertThat(some.contains(GranuleRange.rows(3, 5, 2))).isTrue();
    assertThat(some.contains(GranuleRange.rows(5, 0, 1))).isFalse();
    GranuleRange rows = GranuleRange.rows(3, 2, 4);
    assertThat(rows.contains(GranuleRange.rows(3, 3, 3))).isTrue();
    assertThat(rows.contains(GranuleRange.rows(3, 3, 4))).isFalse();
    assertThat(rows.contains(GranuleRange.rows(2, 3, 1))).isFalse();
    assertThat(rows.contains(GranuleRange.whole(3, 1))).isFalse();
    assertThat(rows.contains(GranuleRange.rows(3, 3, INT_MAX))).isFalse();
  }

  @Test
  void granuleRange_outsideTheLayout_isRefused() {
    BlockLayout layout = BlockLayout.latent(4, 8, 16, 4, ElementType.BF16);
    GranuleRange.whole(7, 1).requireInside(layout);
    GranuleRange.rows(7, 7, 1).requireInside(layout);
    assertThatThrownBy(() -> GranuleRange.whole(7, 2).requireInside(layout))
        .hasMessage("granules must end at <= 8 (was 7 + 2)");
    assertThatThrownBy(() -> GranuleRange.rows(7, 7, 2).requireInside(layout))
        .hasMessage("rows must end at <= 8 (was 7 + 2)");
    assertThatThrownBy(() -> GranuleRange.rows(0, INT_MAX, INT_MAX).requireInside(layout))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> GranuleRange.whole(INT_MAX, 1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> GranuleRange.layers(layout, 3, 5))
        .hasMessage("layers must end at <= 4 (was 5)");
    assertThatThrownBy(() -> GranuleRange.layers(layout, 2, 2)).isInstanceOf(IndexOutOfBoundsException.class)
        .hasMessage("layers must begin in [0, 2) (was 2)");
    assertThatThrownBy(() -> GranuleRange.layers(layout, -1, 2)).isInstanceOf(IndexOutOfBoundsException.class)
        .hasMessage("layers must begin in [0, 2) (was -1)");
    assertThatThrownBy(() -> GranuleRange.layers(layout, Integer.MIN_VALUE, 4)) // times the planes it would be 0
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> new GranuleRange(0, 2, 0, 1)).hasMessageContaining("inside one granule");
    assertThatThrownBy(() -> new GranuleRange(0, 1, 1, GranuleRange.WHOLE)).hasMessageContaining("firstRow must be 0");
  }
}
