package io.penstock.examples.disaggregated.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.penstock.examples.disaggregated.model.RotaryConfig.Scaling;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Vectors that were computed by hand: cos 1 = 0.5403023, sin 1 = 0.8414710, cos 0.01 = 0.9999500, sin 0.01 =
/// 0.0099998.
final class RotaryTest {
  private static float[] turned(boolean interleaved, int width, float... x) {
    new Rotary(new RotaryConfig(10_000, width, interleaved, Scaling.NONE)).turn(x, 1);
    return x;
  }

  @Test
  void pairs_areHalvesOrNeighbours() {
    assertThat(turned(false, 4, 1, 1, 0, 0)).containsExactly(
        new float[] {0.5403023f, 0.9999500f, 0.8414710f, 0.0099998f}, within(1e-6f));
    assertThat(turned(true, 4, 1, 0, 1, 0)).containsExactly(
        new float[] {0.5403023f, 0.8414710f, 0.9999500f, 0.0099998f}, within(1e-6f));
  }

  @Test
  void elementsBehindTheTurnedOnes_stay() {
    assertThat(turned(false, 2, 1, 0, 7, 8)).containsExactly(new float[] {0.5403023f, 0.8414710f, 7, 8},
        within(1e-6f));
  }

  /// Angles of Llama 3.1 (theta 500,000, heads of 128, factor 8, factors 1 and 4, 8,192 positions), computed apart from
  /// this code.
  @ParameterizedTest
  @CsvSource({"0, 1", "10, 1.286874e-1", "28, 3.211446e-3", "29, 2.166571e-3", "30, 1.371894e-3", "34, 1.785078e-4",
    "40, 3.428102e-5", "63, 3.068926e-7"})
  void scalingOfLlama3_slowsLongWavesDown(int pair, double angle) {
    RotaryConfig config = new RotaryConfig(500_000, 128, false, new Scaling(8, 1, 4, 8192));
    assertThat(config.angle(pair) / angle).isCloseTo(1, within(1e-6));
  }

  @Test
  void numbersThatCannotBe_areRefused() {
    assertThatThrownBy(() -> new RotaryConfig(0, 4, false, Scaling.NONE))
        .hasMessage("rope_theta must be > 0 (was 0.0)");
    assertThatThrownBy(() -> new RotaryConfig(1, 3, false, Scaling.NONE))
        .hasMessage("rotary elements of a head must be even and > 0 (was 3)");
    assertThatThrownBy(() -> Scaling.linear(0.5)).hasMessage("factor must be >= 1 (was 0.5)");
    assertThatThrownBy(() -> new Scaling(8, 4, 4, 8192))
        .hasMessage("factors must be 0 < low_freq_factor < high_freq_factor (was 4.0, 4.0)");
  }
}
