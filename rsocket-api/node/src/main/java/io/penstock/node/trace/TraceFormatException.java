package io.penstock.node.trace;

import io.penstock.node.cli.DataException;

/// A line of a trace breaks a rule of the form: *file, line N: field must be rule (was value)*, the value cut when
/// long.
public final class TraceFormatException extends DataException {
  private static final int LONGEST_VALUE = 80;

  TraceFormatException(String file, long line, String field, String rule, String value) {
    super("%s, line %d: %s must be %s (was %s)".formatted(file, line, field, rule, shortened(value)));
  }

  private static String shortened(String value) {
    if (value.isBlank()) {
      return "blank";
    }
    return value.length() <= LONGEST_VALUE ? value : value.substring(0, LONGEST_VALUE - 1) + "…";
  }
}
