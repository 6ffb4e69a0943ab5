package io.penstock.wire.security;

import static java.util.Objects.requireNonNull;

import java.util.Set;

/// A role in some cache spaces.
///
/// @param spaces names of spaces, or [#EVERY]
public record Grant(Role role, Set<String> spaces) {
  /// Every space, those that clients open among them.
  public static final String EVERY = "*";

  public Grant {
    requireNonNull(role, "role");
    spaces = Set.copyOf(spaces);
    if (spaces.isEmpty()) {
      throw new IllegalArgumentException("spaces must be at least one, or * for all (was none)");
    }
  }

  /// Grants a role in every space.
  public static Grant everywhere(Role role) {
    return new Grant(role, Set.of(EVERY));
  }

  boolean covers(String space) {
    return spaces.contains(EVERY) || spaces.contains(space);
  }
}
