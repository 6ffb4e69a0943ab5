package io.penstock.node.shape;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.penstock.block.BlockLayout;
import io.penstock.block.Plane.ElementType;
import io.penstock.node.setting.Capacity;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ModelSizeTest {
  /// llama-3.1-8b in blocks of a Mooncake trace.
  private static final ModelSize SIZE =
      ModelSize.of("m", BlockLayout.attention(32, 512, 8, 128, ElementType.BF16)).withPrefillRate(20_000);

  @Test
  void aBlock_hasTheBytesOfItsTokens() {
    assertThat(SIZE.blockBytes()).isEqualTo(64L << 20);
    assertThat(SIZE.bytesPerToken()).isEqualTo(131_072);
    assertThat(SIZE.words()).isEqualTo("m, 128 KiB a token, 64 MiB a block of 512 tokens");
  }

  @ParameterizedTest
  @CsvSource({"4GiB, 64", "127MiB, 1", "10000 blocks, 10000", "1TiB, 16384"})
  void capacities_inBytes_areOfTheModel(String capacity, long blocks) {
    assertThat(SIZE.blocks("--dram", Capacity.parse(capacity))).isEqualTo(blocks);
  }

  @Test
  void capacity_belowOneBlock_isRefusedByItsOption() {
    assertThatIllegalArgumentException().isThrownBy(() -> SIZE.blocks("--dram", Capacity.parse("63MiB")))
        .withMessage("--dram must be >= one block of 64 MiB (was 63 MiB)");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {"1 | 1 block = 64.0 MiB", "64 | 64 blocks = 4.00 GiB",
    "1000 | 1,000 blocks = 62.5 GiB", "10000 | 10,000 blocks = 625 GiB", "182790 | 182,790 blocks = 11,424 GiB",
    "0 | 0 blocks = 0 GiB"})
  void words_areInGib(long blocks, String words) {
    Locale before = Locale.getDefault();
    Locale.setDefault(Locale.GERMANY);
    try {
      assertThat(SIZE.words(blocks)).isEqualTo(words);
    } finally {
      Locale.setDefault(before);
    }
  }

  @Test
  void bytes_beyondALong_areTheLargest() {
    assertThat(SIZE.bytes(Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);
    assertThat(SIZE.words(Long.MAX_VALUE)).isEqualTo("unbounded");
  }

  @Test
  void seconds_areTokensByTheRate() {
    assertThat(SIZE.seconds(54_098_411)).isEqualTo(2_704.921);
    assertThat(ModelSize.secondsText(2_704.921)).isEqualTo("2,705 s");
    assertThat(ModelSize.tokensText(54_098_411)).isEqualTo("54.1 M");
    assertThat(ModelSize.tokensText(6_567_267)).isEqualTo("6.57 M");
    assertThat(ModelSize.tokensText(999_999)).isEqualTo("999,999");
  }

  @ParameterizedTest
  @CsvSource({"0", "-1", "-1.5", "NaN", "Infinity"})
  void prefillRate_notAboveZero_isRefused(String text) {
    double rate = Double.parseDouble(text);
    assertThatIllegalArgumentException().isThrownBy(() -> SIZE.withPrefillRate(rate))
        .withMessage("prefill.rate must be > 0 tokens a second (was " + text + ")");
  }
}
