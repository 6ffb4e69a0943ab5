package io.penstock.node.play;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A place in a recording: an event, or a time after its first event.
///
/// @param event its number, from 0; `Long.MAX_VALUE` if the place is a time
/// @param nanos since the first event; `Long.MAX_VALUE` if the place is an event
public record PlayPoint(long event, long nanos) {
  private static final Pattern EVENT = Pattern.compile("[0-9][0-9,_]{0,22}");
  private static final Pattern TIME = Pattern.compile("([0-9]{1,9}(?:\\.[0-9]{1,9})?)\\s*(ns|us|ms|s|m|h)");

  /// Reads `4711`, `4,711`, or `2.5s`.
  ///
  /// @param flag that has the text, for the complaint
  public static PlayPoint parse(String flag, String text) {
    String plain = text.strip().toLowerCase(Locale.ROOT);
    Matcher time = TIME.matcher(plain);
    try {
      if (EVENT.matcher(plain).matches()) {
        return new PlayPoint(Long.parseLong(plain.replaceAll("[,_]", "")), Long.MAX_VALUE);
      } else if (time.matches()) {
        return new PlayPoint(Long.MAX_VALUE, Math.round(Double.parseDouble(time.group(1)) * nanosOf(time.group(2))));
      }
    } catch (NumberFormatException e) {
      // told below
    }
    throw new IllegalArgumentException(
        "%s must be the number of an event, or a time after the first with ns, us, ms, s, m or h (was %s)".formatted(
            flag, text));
  }

  /// For a person: *event 4711*, or *2.500000 s*.
  String text() {
    return event == Long.MAX_VALUE ? PlayText.seconds(nanos) : "event " + event;
  }

  private static double nanosOf(String unit) {
    return switch (unit) {
      case "ns" -> 1;
      case "us" -> 1e3;
      case "ms" -> 1e6;
      case "s" -> 1e9;
      case "m" -> 60e9;
      default -> 3600e9;
    };
  }

  /// Whether a turn lies before this place, and the place not within it.
  ///
  /// @param last number of its last event
  /// @param since its time after the first event
  public boolean isAfter(long last, long since) {
    return last < event && since < nanos;
  }

  /// Whether a turn begins at this place or before it.
  ///
  /// @param first number of its first event
  public boolean isReached(long first, long since) {
    return first <= event && since <= nanos;
  }
}
