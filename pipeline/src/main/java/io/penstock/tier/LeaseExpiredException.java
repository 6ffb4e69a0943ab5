package io.penstock.tier;

import io.penstock.PermanentKvException;

/// No read lease has this id: it is wrong, or the lease has ended. Look the keys up again.
public final class LeaseExpiredException extends PermanentKvException {
  private final long id;

  public LeaseExpiredException(long id) {
    super("lease must be live to be read (was " + id + ", which has ended or never was)");
    this.id = id;
  }

  /// What the reader named.
  public long id() {
    return id;
  }
}
