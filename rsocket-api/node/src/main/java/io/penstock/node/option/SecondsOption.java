package io.penstock.node.option;

import io.penstock.node.text.Durations;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Locale;
import picocli.CommandLine.ITypeConverter;

/// Reads an option that is a time in seconds, or with a unit: `15`, `0.5` or `15s`; 0 for none, and a day at most.
public final class SecondsOption implements ITypeConverter<Duration> {
  private static final Duration MOST = Duration.ofDays(1);

  @Override
  public Duration convert(String text) {
    Duration time = read(text.strip());
    if (time.compareTo(MOST) > 0) {
      throw new IllegalArgumentException("time must be at most a day (was " + text + ")");
    }
    return time;
  }

  private static Duration read(String text) {
    if (text.matches("\\d+(\\.\\d+)?")) {
      return Duration.ofNanos(Math.round(Double.parseDouble(text) * 1e9)); // all that is too long is 292 years
    }
    return text.toLowerCase(Locale.ROOT).matches("0+(\\.0+)?\\s*(ms|s|m|h)") ? Duration.ZERO : Durations.parse(text);
  }

  /// @return `time`
  /// @throws IllegalArgumentException if it is none
  public static Duration positive(String option, Duration time) {
    if (time.isZero() || time.isNegative()) {
      throw new IllegalArgumentException("%s must be > 0 (was %s)".formatted(option,
          BigDecimal.valueOf(time.toNanos(), 9).stripTrailingZeros().toPlainString()));
    }
    return time;
  }
}
