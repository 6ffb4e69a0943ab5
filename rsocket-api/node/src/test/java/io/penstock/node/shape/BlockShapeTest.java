package io.penstock.node.shape;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.penstock.block.BlockLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class BlockShapeTest {
  @ParameterizedTest
  @CsvSource({"65536, 8", "1048576, 8", "65536, 1", "4096, 32", "32, 8", "12, 3", "1073741824, 64"})
  void layout_addsUpToTheBlockExactly(int blockBytes, int layers) {
    BlockLayout layout = BlockShape.of(blockBytes, layers).layout();

    assertThat(layout.blockBytes()).isEqualTo(blockBytes);
    assertThat(layout.layers()).isEqualTo(layers);
    assertThat(layout.granules()).isEqualTo(2 * layers);
    assertThat(layout.planeBytes(0)).isEqualTo(layout.planeBytes(1));
  }

  @ParameterizedTest
  @CsvSource({"65537, 8", "0, 8", "-64, 8", "65536, 7", "4294967296, 8"})
  void of_sizeThatDoesNotSplit_namesTheRule(long blockBytes, int layers) {
    assertThatIllegalArgumentException().isThrownBy(() -> BlockShape.of(blockBytes, layers))
        .withMessageStartingWith("block.bytes must be a multiple of ")
        .withMessageContaining("layers " + layers + " x ").withMessageContaining("(was ");
  }

  @Test
  void of_noLayers_namesTheRule() {
    assertThatIllegalArgumentException().isThrownBy(() -> BlockShape.of(65536, 0))
        .withMessage("layers must be > 0 (was 0)");
  }
}
