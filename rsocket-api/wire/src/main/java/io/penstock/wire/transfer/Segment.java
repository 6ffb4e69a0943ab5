package io.penstock.wire.transfer;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;

/// The handle of registered memory. It names one registration: after `unregister`, and after a restart of the node, it
/// is unknown, even if the memory is registered again.
///
/// @param generation of the registry; differs from start to start of a node
/// @param number of the registration, from 1; never used again
/// @param name under which peers find the segment
public record Segment(long generation, long number, String name, long bytes) {
  /// Maximum number of characters of a name.
  public static final int LONGEST_NAME = 256;

  public Segment {
    Checks.positive("number", number);
    Checks.positive("bytes", bytes);
    requireName(name);
  }

  static String requireName(String name) {
    if (requireNonNull(name, "name").isEmpty() || name.length() > LONGEST_NAME) {
      throw new IllegalArgumentException(
          "name must be of 1 to " + LONGEST_NAME + " characters (was of " + name.length() + ")");
    }
    return name;
  }
}
