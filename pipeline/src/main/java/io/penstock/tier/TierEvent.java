package io.penstock.tier;

import io.penstock.block.BlockKey;

/// What happened to a block of a tier, numbered without holes from 1.
public sealed interface TierEvent {
  /// Position in the tier's history.
  long sequence();

  /// The block became visible.
  record Stored(long sequence, BlockKey key) implements TierEvent {}

  /// The policy chose the block as victim.
  record Evicted(long sequence, BlockKey key) implements TierEvent {}

  /// A caller removed the block.
  record Removed(long sequence, BlockKey key) implements TierEvent {}

  /// The block is gone against the tier's will, for example quarantined after a checksum mismatch.
  record Lost(long sequence, BlockKey key, String reason) implements TierEvent {}

  /// The reader was too slow, or asked for a past no longer kept: the events up to `sequence` were skipped. Ask
  /// `contains` anew.
  record Skipped(long sequence, long count) implements TierEvent {}
}
