package io.penstock.node.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

final class NumbersTest {
  @Test
  void counts_areInTheOrderOfTheirNames_whateverTheirDigits() {
    assertThat(Numbers.of(Map.of("WRITTEN", 1_990L, "VOLATILE", 10L))).isEqualTo("10 volatile, 1,990 written");
    assertThat(Numbers.of(Map.of("WRITTEN", 10L, "VOLATILE", 1_990L))).isEqualTo("1,990 volatile, 10 written");
    assertThat(Numbers.of(Map.of())).isEqualTo("none");
  }
}
