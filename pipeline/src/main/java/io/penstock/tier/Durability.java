package io.penstock.tier;

/// What a receipt promises about the bytes.
public enum Durability {
  /// In memory; may be evicted, with an event, and is gone after a crash.
  VOLATILE,
  /// Handed to the operating system; survives the process.
  WRITTEN,
  /// Forced to the medium; survives the machine.
  FORCED
}
