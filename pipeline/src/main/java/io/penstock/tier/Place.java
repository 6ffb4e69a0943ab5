package io.penstock.tier;

import io.penstock.tier.spi.StoredBlock;

/// A resting block and those who read it now. It is freed when it was given up and the last of them is done. Guarded by
/// the stack's lock.
final class Place {
  final StoredBlock rest;
  int reads;
  private boolean givenUp;

  Place(StoredBlock rest) {
    this.rest = rest;
  }

  /// The end of this place; true if nobody reads it, so that it can be freed now.
  boolean giveUp() {
    givenUp = true;
    return reads == 0;
  }

  /// The end of one read; true if the place is to be freed now.
  boolean readEnded() {
    reads--;
    return givenUp && reads == 0;
  }
}
