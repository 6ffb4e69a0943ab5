package io.penstock.examples.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class ChartTest {
  private final Chart chart = new Chart(4, 2);

  @Test
  void values_areBarsBelowTheLimit() {
    assertThat(chart.draw(List.of(0L, 4L, 8L, 16L), 16)).containsExactly(
        "      16 B ┄┄┄┄ limit",
        "              █",
        "         0  ▄██");
  }

  @Test
  void smallValue_isSeen() {
    assertThat(chart.draw(List.of(1L), 1_000_000).getLast()).endsWith("▁");
  }

  @Test
  void moreValuesThanFit_showsTheNewest() {
    assertThat(chart.draw(List.of(16L, 16L, 0L, 0L, 0L, 16L), 16).getLast()).endsWith("   █");
  }

  @Test
  void valueAboveTheLimit_fillsTheChart() {
    assertThat(chart.draw(List.of(99L), 16)).last().asString().endsWith("█");
  }
}
