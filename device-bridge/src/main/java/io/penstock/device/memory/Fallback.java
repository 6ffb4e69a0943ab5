package io.penstock.device.memory;

import static java.util.Objects.requireNonNull;

/// Something that memory was to be and is not.
///
/// @param wanted in plain words: the label of a rung, a NUMA node, locked
/// @param reason why it is not
public record Fallback(String wanted, String reason) {
  /// The reason of a rung whose pages are too large for what is wanted.
  public static final String WASTEFUL = "more than an eighth of it would be for nothing";

  public Fallback {
    requireNonNull(wanted, "wanted");
    requireNonNull(reason, "reason");
  }

  @Override
  public String toString() {
    return wanted + ": " + reason;
  }
}
