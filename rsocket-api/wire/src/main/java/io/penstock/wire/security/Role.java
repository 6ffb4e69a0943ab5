package io.penstock.wire.security;

import java.util.Locale;

/// What a user may do in a cache space; each role may what those before it may.
public enum Role {
  /// Asks, reads, and leases what it reads.
  READER,
  /// Puts and pins.
  WRITER,
  /// Removes.
  ADMIN;

  /// Whether this role may what `other` may.
  public boolean includes(Role other) {
    return compareTo(other) >= 0;
  }

  /// As files and messages spell it.
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
