package io.penstock.disagg.registry;

import io.penstock.PermanentKvException;

/// A rank that does not fit to those that are registered. Names the field.
public final class RegistrationRefusedException extends PermanentKvException {
  private final String field;
  private final String wanted;
  private final String actual;

  RegistrationRefusedException(String field, Object wanted, Object actual) {
    super(field + " must be " + wanted + " (was " + actual + ")");
    this.field = field;
    this.wanted = wanted.toString();
    this.actual = actual.toString();
  }

  public String field() {
    return field;
  }

  public String wanted() {
    return wanted;
  }

  public String actual() {
    return actual;
  }
}
