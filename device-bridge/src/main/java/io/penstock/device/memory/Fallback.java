package io.penstock.device.memory;

import static java.util.Objects.requireNonNull;

/// A wish for memory that was not met.
///
/// @param wanted in plain words: the label of a kind of pages, a NUMA node, locked
/// @param reason why it was not met
public record Fallback(String wanted, String reason) {
  /// The reason of a kind of pages that are too large for the wanted bytes.
  public static final String WASTEFUL = "more than an eighth of it would be wasted";

  public Fallback {
    requireNonNull(wanted, "wanted");
    requireNonNull(reason, "reason");
  }

  @Override
  public String toString() {
    return wanted + ": " + reason;
  }
}
