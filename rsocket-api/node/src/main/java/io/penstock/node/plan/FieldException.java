package io.penstock.node.plan;

import java.io.Serial;

/// A field of a case that breaks its rule: *field rule (was value)*.
public final class FieldException extends RuntimeException {
  @Serial
  private static final long serialVersionUID = 1L;

  private final String field;
  private final String value;

  /// @param field its path, such as `input.prefill.tp`
  /// @param rule such as `must be an integer`
  /// @param value as it was given
  public FieldException(String field, String rule, Object value) {
    super("%s %s (was %s)".formatted(field, rule, Case.shortened(String.valueOf(value))));
    this.field = field;
    this.value = String.valueOf(value);
  }

  public String field() {
    return field;
  }

  public String value() {
    return value;
  }
}
