package io.penstock.examples.disaggregated.rank;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class GeneratedTest {
  private static Generated of(float... logits) {
    Generated generated = new Generated();
    generated.add(7, new float[] {1, 2});
    generated.add(8, logits);
    return generated;
  }

  @Test
  void bits_areCompared() {
    assertThat(of(0, 1).equalsBitwise(of(0, 1))).isTrue();
    assertThat(of(0, 1).firstDifference(of(-0.0f, 1))).isEqualTo(1);
    assertThat(of(0, 1).firstDifference(of(0, Math.nextUp(1f)))).isEqualTo(1);
  }

  @Test
  void nan_equalsNothing() {
    assertThat(of(Float.NaN, 1).equalsBitwise(of(Float.NaN, 1))).isFalse();
    assertThat(of(Float.NaN, 1).firstDifference(of(Float.NaN, 1))).isEqualTo(1);
  }
}
