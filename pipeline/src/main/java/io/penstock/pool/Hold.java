package io.penstock.pool;

/// Reason that keeps a key of a [Ledger] from being the victim.
public enum Hold {
  /// Nothing.
  NONE,
  /// A reader or a copy uses the block: a victim only if all others are held.
  IN_USE,
  /// A soft pin: the key is demoted as any other, and evicted only if all others are held.
  SOFT_PIN,
  /// A read lease: the key stays on its level.
  LEASE,
  /// A hard pin: the key is demoted as any other, and is never evicted.
  HARD_PIN;

  /// Whether the key may be the victim of its level.
  ///
  /// @param leaves whether no slower level takes the key, so that it would be evicted
  boolean frees(boolean leaves) {
    return this == NONE || (!leaves && (this == SOFT_PIN || this == HARD_PIN));
  }
}
