package io.penstock.check;

import static java.util.Objects.requireNonNull;

import java.time.Duration;

/// Argument checks with one message form: *name must be rule (was value)*, in an [IllegalArgumentException]. Each check
/// returns its valid argument.
public final class Checks {
  private Checks() {}

  public static int positive(String name, int value) {
    positive(name, (long) value);
    return value;
  }

  public static long positive(String name, long value) {
    if (value <= 0) {
      throw new IllegalArgumentException(name + " must be > 0 (was " + value + ")");
    }
    return value;
  }

  public static Duration positive(String name, Duration value) {
    if (!requireNonNull(value, name).isPositive()) {
      throw new IllegalArgumentException(name + " must be > 0 (was " + value + ")");
    }
    return value;
  }

  /// Checks a time to wait: timers count in milliseconds.
  public static Duration atLeastOneMilli(String name, Duration value) {
    if (requireNonNull(value, name).toMillis() < 1) {
      throw new IllegalArgumentException(name + " must be >= 1 ms (was " + value + ")");
    }
    return value;
  }

  public static int notNegative(String name, int value) {
    notNegative(name, (long) value);
    return value;
  }

  public static long notNegative(String name, long value) {
    if (value < 0) {
      throw new IllegalArgumentException(name + " must be >= 0 (was " + value + ")");
    }
    return value;
  }

  public static Duration notNegative(String name, Duration value) {
    if (requireNonNull(value, name).isNegative()) {
      throw new IllegalArgumentException(name + " must be >= 0 (was " + value + ")");
    }
    return value;
  }

  /// Checks a name or an address from outside: it has characters that a terminal and a log show as they are, so none
  /// that moves a cursor, ends a line, or changes the direction of text.
  public static String printable(String name, String value) {
    for (int at = 0; at < value.length(); at += Character.charCount(value.codePointAt(at))) {
      if (!isPrintable(value.codePointAt(at))) {
        throw new IllegalArgumentException("%s must have printable characters (had U+%04X)".formatted(name,
            value.codePointAt(at)));
      }
    }
    return value;
  }

  /// Whether a terminal and a log show the character as it is.
  public static boolean isPrintable(int codePoint) {
    return switch (Character.getType(codePoint)) {
      case Character.CONTROL, Character.FORMAT, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR,
          Character.SURROGATE, Character.UNASSIGNED ->
        false;
      default -> true;
    };
  }

  /// Checks an index.
  public static void within(String name, int value, int below) {
    if (value < 0 || value >= below) {
      throw new IndexOutOfBoundsException(name + " must be in [0, " + below + ") (was " + value + ")");
    }
  }
}
