package io.penstock.node.text;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Reads and writes durations as people write them: `500ms`, `30s`, `2m`, `1h`. A fraction may be given as long as the
/// whole is a number of milliseconds: `0.3s`.
public final class Durations {
  private static final Pattern FORM = Pattern.compile("\\s*(\\d{1,9}(?:\\.\\d{1,9})?)\\s*(ms|s|m|h)\\s*");

  private Durations() {}

  /// @throws IllegalArgumentException if `text` is no duration of at least 1 ms
  public static Duration parse(String text) {
    Matcher form = FORM.matcher(text.toLowerCase(Locale.ROOT));
    BigDecimal millis = form.matches()
        ? new BigDecimal(form.group(1)).multiply(BigDecimal.valueOf(millis(form.group(2))))
        : BigDecimal.ZERO;
    if (millis.compareTo(BigDecimal.ONE) < 0) {
      throw new IllegalArgumentException("duration must be at least 1ms, such as 500ms, 30s or 2m (was " + text + ")");
    }
    try {
      return Duration.ofMillis(millis.longValueExact());
    } catch (ArithmeticException e) {
      throw new IllegalArgumentException("duration must be whole milliseconds, such as 500ms (was " + text + ")", e);
    }
  }

  private static long millis(String unit) {
    return switch (unit) {
      case "ms" -> 1;
      case "s" -> 1_000;
      case "m" -> 60_000;
      default -> 3_600_000;
    };
  }

  /// Duration in the largest unit that leaves no fraction; [#parse] reads it back.
  public static String print(Duration duration) {
    long millis = duration.toMillis();
    if (millis % 1000 != 0) {
      return millis + "ms";
    }
    long seconds = millis / 1000;
    return seconds % 60 != 0 ? seconds + "s" : seconds % 3600 != 0 ? seconds / 60 + "m" : seconds / 3600 + "h";
  }
}
