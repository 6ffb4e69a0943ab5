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

  /// The tier lost the block, for example quarantined it after a checksum mismatch.
  record Lost(long sequence, BlockKey key, String reason) implements TierEvent {}

  /// The log no longer has the events up to `sequence`: the reader was too slow, or asked for an older past. Ask
  /// [BlockTier#contains] again.
  record Skipped(long sequence, long count) implements TierEvent {}
}
