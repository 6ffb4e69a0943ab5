package io.penstock.node.text;

import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Reads and writes durations as people write them: `500ms`, `30s`, `2m`, `1h`.
public final class Durations {
  private static final Pattern FORM = Pattern.compile("\\s*(\\d{1,9})\\s*(ms|s|m|h)\\s*");

  private Durations() {}

  /// @throws IllegalArgumentException if `text` is no duration of at least 1 ms
  public static Duration parse(String text) {
    Matcher form = FORM.matcher(text.toLowerCase(Locale.ROOT));
    if (!form.matches() || Long.parseLong(form.group(1)) == 0) {
      throw new IllegalArgumentException("duration must be at least 1ms, such as 500ms, 30s or 2m (was " + text + ")");
    }
    long amount = Long.parseLong(form.group(1));
    return switch (form.group(2)) {
      case "ms" -> Duration.ofMillis(amount);
      case "s" -> Duration.ofSeconds(amount);
      case "m" -> Duration.ofMinutes(amount);
      default -> Duration.ofHours(amount);
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
