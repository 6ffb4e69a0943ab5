package io.penstock.device.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class BestEffortTest {
  private static final long MIB = 1 << 20;

  /// MiB wanted, and GiB tried.
  @ParameterizedTest
  @CsvSource({"1024, 1", "1536, 1", "2047, 1", "2048, 2 1", "3072, 3 2", "4096, 4 3 2", "10240, 10 9 8 7 6 5",
    "10752, 10 9 8 7 6",
    "20480, 20 18 16 14 12 10", "102400, 100 90 80 70 60 50",
    "4398046511104, 4294967296 3865470566 3435973836 3006477107 2576980377 2147483648"})
  void sizes_areTenthsInWholeGibibytesDownToAHalf(long wanted, String tried) {
    assertThat(Arrays.stream(BestEffort.sizes(wanted * MIB)).mapToObj(size -> String.valueOf(size / 1024 / MIB))
        .collect(Collectors.joining(" "))).isEqualTo(tried);
    assertThat(Arrays.stream(BestEffort.sizes(wanted * MIB))).allMatch(size -> size % (1024 * MIB) == 0);
  }

  @Test
  void lessThanAGibibyte_isNothingToRound() {
    assertThatThrownBy(() -> BestEffort.sizes(1024 * MIB - 1))
        .hasMessage("bytes must be >= 1073741824 (was 1073741823)");
  }
}
