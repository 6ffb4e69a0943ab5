package io.penstock.node.trace;

import io.penstock.node.cli.DataException;

/// A line of a trace breaks a rule of the form: *file, line N: field must be rule (was value)*.
public final class TraceFormatException extends DataException {
  private static final int LONGEST_VALUE = 80;

  private final String file;
  private final long line;
  private final String field;
  private final String rule;
  private final String value;

  TraceFormatException(String file, long line, String field, String rule, String value) {
    super("%s, line %d: %s must be %s (was %s)".formatted(file, line, field, rule, shortened(value)));
    this.file = file;
    this.line = line;
    this.field = field;
    this.rule = rule;
    this.value = shortened(value);
  }

  public String file() {
    return file;
  }

  /// Counted from 1.
  public long line() {
    return line;
  }

  public String field() {
    return field;
  }

  public String rule() {
    return rule;
  }

  /// What stood there, cut when long.
  public String value() {
    return value;
  }

  private static String shortened(String value) {
    if (value.isBlank()) {
      return "blank";
    }
    return value.length() <= LONGEST_VALUE ? value : value.substring(0, LONGEST_VALUE - 1) + "…";
  }
}
