package io.penstock.testkit;

/// What a tier may promise beyond the core of [TierContract]; tests of a promise that a tier does not give are skipped.
public enum TierPromise {
  /// Hits and victims are those of a textbook LRU of its capacity, and figures count them.
  EXACT_LRU,
  /// A lease admits missing keys, see [io.penstock.tier.OnMiss#ADMIT].
  ADMITS,
  /// A lease holds all blocks that it found until they were read; else a stream may fail with
  /// [io.penstock.block.IncompleteBlockException].
  HOLDS_WHAT_IT_FOUND,
  /// What becomes visible, and what goes, is told as events without holes.
  EVENTS,
  /// While nothing is leased or written, the bytes claimed are those of visible blocks.
  CLAIMED_IS_VISIBLE
}
