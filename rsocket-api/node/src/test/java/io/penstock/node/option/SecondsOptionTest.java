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
  @CsvSource({"0.3s, 300", "0.3, 300", "300ms, 300", "1.5m, 90000", "2, 2000", "0.001s, 1", "0.25h, 900000"})
  void time_isReadInAnyUnit(String text, long millis) {
    assertThat(read(text)).isEqualTo(Duration.ofMillis(millis));
  }

  @Test
  void numberAlone_isSeconds_alsoOfLessThanAMillisecond_andOfNone() {
    assertThat(read("0.0005")).isEqualTo(Duration.ofNanos(500_000));
    assertThat(read("0")).isZero();
    assertThatThrownBy(() -> read("86401")).hasMessage("time must be at most a day (was 86401)");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0s", "0.0s", "s", "1 day", "-1s", "1e3s", ".5s", "0.4ms"})
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
        .hasMessage("--seconds must be > 0 (was 0.0)");
  }
}
