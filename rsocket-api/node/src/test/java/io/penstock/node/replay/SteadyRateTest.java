package io.penstock.node.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SteadyRateTest {
  private static final long SECOND = 1_000_000_000;

  @ParameterizedTest
  @ValueSource(ints = {12, 256, 257, 10_000})
  void rate_isThatOfTheLastQuarter_howeverManyPointsThereAre(int points) {
    SteadyRate rate = new SteadyRate();
    long bytes = 0;
    for (int i = 1; i <= points; i++) { // a tenth of the speed at first
      bytes += i <= points / 2 ? 100 : 1_000;
      rate.add(8 * SECOND * i / points, bytes);
    }
    double steady = 1_000.0 * points / 8;
    assertThat(rate.bytesPerSecond(8 * SECOND, bytes)).isCloseTo(steady, within(steady / 100));
  }

  @Test
  void runWithoutPointsInItsLastQuarter_hasTheRateOfTheWhole() {
    SteadyRate rate = new SteadyRate();
    assertThat(rate.bytesPerSecond(SECOND, 0)).isZero();
    rate.add(2 * SECOND, 500);
    rate.add(4 * SECOND, 1_000);
    assertThat(rate.bytesPerSecond(4 * SECOND, 1_000)).isEqualTo(250);
  }
}
