package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;

/// A tier's statement that a block was stored. It promises what `durability` says, and no more.
///
/// @param tier name of the tier
/// @param sequence number of the tier's `Stored` event
public record Receipt(BlockKey key, String tier, Durability durability, long sequence) {
  public Receipt {
    requireNonNull(key, "key");
    requireNonNull(tier, "tier");
    requireNonNull(durability, "durability");
  }

  /// Promise of a receipt about the bytes.
  public enum Durability {
    /// Stored in memory; may be evicted, with an event, and is gone after a crash.
    VOLATILE,
    /// Handed to the operating system; survives the process.
    WRITTEN,
    /// Forced to the medium; survives the machine.
    FORCED
  }
}
