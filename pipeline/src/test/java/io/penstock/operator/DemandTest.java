package io.penstock.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class DemandTest {
  @Test
  void demandWithoutEnd_staysSo() {
    assertThat(Demand.plus(5, 2)).isEqualTo(7);
    assertThat(Demand.minus(7, 3)).isEqualTo(4);
    assertThat(Demand.plus(Long.MAX_VALUE - 1, 2)).isEqualTo(Long.MAX_VALUE);
    assertThat(Demand.minus(Long.MAX_VALUE, 1)).isEqualTo(Long.MAX_VALUE);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, Long.MIN_VALUE})
  void requestForNothingOrLess_isRefused(long n) {
    assertThatThrownBy(() -> Demand.plus(5, n)).isInstanceOf(IllegalArgumentException.class)
        .hasMessage("request must be > 0 (was " + n + "), Reactive Streams rule 3.9");
  }
}
