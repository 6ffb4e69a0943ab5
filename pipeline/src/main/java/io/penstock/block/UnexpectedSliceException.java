package io.penstock.block;

import io.penstock.PermanentKvException;

/// A slice does not belong where it came: it is of another window, out of turn, or of a block that was not asked for.
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

  /// What about the slice is wrong.
  public String field() {
    return field;
  }

  /// What the field had to be.
  public String wanted() {
    return wanted;
  }

  /// What the field was.
  public Object actual() {
    return actual;
  }
}
