package io.penstock.wire.security;

import java.util.Locale;

/// Rights of a user in a cache space; each role includes those before it.
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

  /// Spelling in files and messages.
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
