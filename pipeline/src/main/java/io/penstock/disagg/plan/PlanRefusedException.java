package io.penstock.disagg.plan;

import static java.util.Objects.requireNonNull;

import io.penstock.PermanentKvException;

/// Two sides between which no exact transfer exists. It names the two fields that do not go together.
public final class PlanRefusedException extends PermanentKvException {
  private final String rule;
  private final String field;
  private final Object value;
  private final String otherField;
  private final Object otherValue;

  PlanRefusedException(String field, Object value, String otherField, Object otherValue, String rule) {
    super("%s (was %s %s, %s %s)".formatted(rule, field, value, otherField, otherValue));
    this.rule = rule;
    this.field = field;
    this.value = requireNonNull(value, "value");
    this.otherField = otherField;
    this.otherValue = requireNonNull(otherValue, "otherValue");
  }

  /// A field that must be equal on both sides.
  static PlanRefusedException unequal(String field, Object prefill, Object decode) {
    return new PlanRefusedException("prefill." + field, prefill, "decode." + field, decode,
        field + " must be equal on both sides");
  }

  /// Returns this refusal for fields of one side.
  PlanRefusedException of(String side) {
    return new PlanRefusedException(side + "." + field, value, side + "." + otherField, otherValue, rule);
  }

  public String field() {
    return field;
  }

  /// A text, a number, or a record.
  public Object value() {
    return value;
  }

  public String otherField() {
    return otherField;
  }

  public Object otherValue() {
    return otherValue;
  }
}
