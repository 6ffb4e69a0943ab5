package io.penstock.tier;

/// Where a block of a [TierStack] is kept.
public enum StackMode {
  /// On one level at a time: the stack holds as many blocks as all its levels together. A receipt is volatile.
  EXCLUSIVE,
  /// On its level and on all below it: written through to the last level before it is visible, so that the receipt
  /// promises what that level, a disk, can, and a demotion costs no copy. The stack holds as many blocks as its last
  /// level.
  WRITE_THROUGH
}
