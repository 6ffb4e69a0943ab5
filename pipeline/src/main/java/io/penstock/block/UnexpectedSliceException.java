package io.penstock.block;

import io.penstock.PermanentKvException;

/// A slice does not belong in its stream: its window is another, its number is out of turn, or its block was not asked
/// for.
public final class UnexpectedSliceException extends PermanentKvException {
  private final String field;
  private final String wanted;
  private final Object actual;

  public UnexpectedSliceException(String field, String wanted, Object actual) {
    super("slice " + field + " must be " + wanted + " (was " + actual + ")");
    this.field = field;
    this.wanted = wanted;
    this.actual = actual;
  }

  /// The wrong field.
  public String field() {
    return field;
  }

  /// Rule or value that the field had to meet.
  public String wanted() {
    return wanted;
  }

  /// The value of the field.
  public Object actual() {
    return actual;
  }
}
