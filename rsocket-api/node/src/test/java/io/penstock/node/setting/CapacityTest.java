package io.penstock.node.setting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class CapacityTest {
  @ParameterizedTest
  @CsvSource({"10GiB, 163840", "1000 blocks, 1000", "1 block, 1", "7BLOCKS, 7", "unbounded, 9223372036854775807",
    "0, 0", "off, 0", "0 blocks, 0"})
  void parse_everyForm_countsInBlocks(String text, long blocks) {
    assertThat(Capacity.parse(text).inBlocks(65536)).isEqualTo(blocks);
  }

  @ParameterizedTest
  @ValueSource(strings = {"64 KiB", "1000 blocks", "unbounded", "off"})
  void toString_isReadBack(String text) {
    assertThat(Capacity.parse(text)).hasToString(text).isEqualTo(Capacity.parse(Capacity.parse(text).toString()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"many", "blocks", "-1 blocks", "1.5 blocks", ""})
  void parse_noCapacity_namesRuleAndValue(String text) {
    assertThatIllegalArgumentException().isThrownBy(() -> Capacity.parse(text))
        .withMessage("capacity must be a size, \"N blocks\", unbounded, or 0 for off (was %s)", text);
  }

  @Test
  void inBlocks_lessThanOneBlock_isRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> Capacity.parse("1KiB").inBlocks(65536))
        .withMessage("capacity must be >= one block of 64 KiB (was 1 KiB)");
  }
}
