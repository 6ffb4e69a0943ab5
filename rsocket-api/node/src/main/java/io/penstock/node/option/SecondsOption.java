package io.penstock.node.option;

import io.penstock.node.text.Durations;
import java.time.Duration;
import picocli.CommandLine.ITypeConverter;

/// Reads an option that is a time in seconds, or with a unit: `15`, `0.5` or `15s`; 0 for none.
public final class SecondsOption implements ITypeConverter<Duration> {
  private static final double MOST = 86_400;

  @Override
  public Duration convert(String text) {
    if (!text.strip().matches("\\d+(\\.\\d+)?")) {
      return Durations.parse(text);
    }
    double seconds = Double.parseDouble(text);
    if (seconds > MOST) {
      throw new IllegalArgumentException("time must be at most a day (was " + text + ")");
    }
    return Duration.ofNanos(Math.round(seconds * 1e9));
  }

  /// @return `time`
  /// @throws IllegalArgumentException if it is none
  public static Duration positive(String option, Duration time) {
    if (time.isZero() || time.isNegative()) {
      throw new IllegalArgumentException("%s must be > 0 (was %s)".formatted(option, time.toNanos() / 1e9));
    }
    return time;
  }
}
