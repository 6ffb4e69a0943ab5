package io.penstock.node.option;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.node.text.Durations;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class SecondsOptionTest {
  private static Duration read(String text) {
    return new SecondsOption().convert(text);
  }

  @ParameterizedTest
  @CsvSource({"0.3s, 300", "0.3, 300", "300ms, 300", "1.5m, 90000", "2, 2000", "0.001s, 1", "0.25h, 900000",
    "24h, 86400000", "86400, 86400000"})
  void time_isReadInAnyUnit(String text, long millis) {
    assertThat(read(text)).isEqualTo(Duration.ofMillis(millis));
  }

  @Test
  void numberAlone_isSeconds_alsoOfLessThanAMillisecond() {
    assertThat(read("0.0005")).isEqualTo(Duration.ofNanos(500_000));
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "0.0", "0s", "0.0s", "0 ms", "00H"})
  void none_isReadInAnyUnit(String text) {
    assertThat(read(text)).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"86401", "99999999999999999999999", "24.5h", "1441m", "999999999h"})
  void moreThanADay_isRefused_inAnyUnit(String text) {
    assertThatThrownBy(() -> read(text)).hasMessage("time must be at most a day (was " + text + ")");
  }

  @ParameterizedTest
  @ValueSource(strings = {"s", "1 day", "-1s", "1e3s", ".5s", "0.4ms"})
  void whatIsNoTime_isRefused(String text) {
    assertThatThrownBy(() -> read(text))
        .hasMessage("duration must be at least 1ms, such as 500ms, 30s or 2m (was " + text + ")");
  }

  @Test
  void partsOfAMillisecond_areRefused_withAUnit() {
    assertThatThrownBy(() -> read("1.5ms"))
        .hasMessage("duration must be whole milliseconds, such as 500ms (was 1.5ms)");
    assertThat(Durations.print(Durations.parse("1.5s"))).isEqualTo("1500ms");
  }

  @Test
  void noTime_isRefused_whereSomeMustPass() {
    assertThatThrownBy(() -> SecondsOption.positive("--seconds", read("0")))
        .hasMessage("--seconds must be > 0 (was 0)");
  }
}
