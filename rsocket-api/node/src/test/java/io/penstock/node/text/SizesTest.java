package io.penstock.node.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class SizesTest {
  @ParameterizedTest
  @CsvSource({
    "0, 0", "512, 512", "42 B, 42", "64KiB, 65536", "64 kb, 65536", "64k, 65536", "1 MB, 1048576", "2GiB, 2147483648",
    "1.5gb, 1610612736", "0.5 KB, 512", "10kb, 10240", "1024, 1024", "1TiB, 1099511627776", "' 7 MiB ', 7340032",
  })
  void parse_everySpelling_isPowersOf1024(String text, long bytes) {
    assertThat(Sizes.parseBytes(text)).isEqualTo(bytes);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "abc", "-1", "1.5", "0.3 KiB", "KiB", "1 PiB", "1 2", "99999999999999 TiB", "1e3", "64 KiB."})
  void parse_noSize_namesRuleAndValue(String text) {
    assertThatIllegalArgumentException().isThrownBy(() -> Sizes.parseBytes(text))
        .withMessage("size must be whole bytes, in B, KiB, MiB, GiB or TiB (was %s)", text);
  }

  @ParameterizedTest
  @CsvSource({"0, 0 B", "1536, 1536 B", "65536, 64 KiB", "1610612736, 1536 MiB", "1099511627776, 1 TiB"})
  void exact_usesTheLargestUnitWithoutFraction(long bytes, String text) {
    assertThat(Sizes.exact(bytes)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({"0, 0 B", "1023, 1023 B", "1536, 1.50 KiB", "1572864000, 1.46 GiB", "15728640, 15.0 MiB",
    "209715200, 200 MiB"})
  void human_roundsToThreeDigits(long bytes, String text) {
    assertThat(Sizes.human(bytes)).isEqualTo(text);
  }

  @Test
  void exact_isReadBackAsTheSameBytes() {
    long seed = 20261120;
    Random random = new Random(seed);
    for (int i = 0; i < 10_000; i++) {
      long bytes = random.nextLong(1L << 50) << random.nextInt(12);
      assertThat(Sizes.parseBytes(Sizes.exact(bytes))).as("seed %d, run %d", seed, i).isEqualTo(bytes);
    }
  }
}
