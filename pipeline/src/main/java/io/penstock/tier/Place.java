package io.penstock.tier;

import org.jspecify.annotations.Nullable;

/// A resting block and those who read it now. It is freed when it was given up and the last of them is done. Guarded by the stack's lock.
final class Place {
  final Rest rest;
  int reads;
  private boolean givenUp;
  private @Nullable Runnable heir;

  Place(Rest rest) {
    this.rest = rest;
  }

  /// The end of this place; true if nobody reads it, so that it can be freed now.
  ///
  /// @param next takes over the right to the place once it was freed, instead of giving it back; null for nobody
  boolean giveUp(@Nullable Runnable next) {
    givenUp = true;
    heir = next;
    return reads == 0;
  }

  /// The end of one read; true if the place is to be freed now.
  boolean readEnded() {
    reads--;
    return givenUp && reads == 0;
  }

  /// Who gets the right to the place, null if nobody in particular.
  @Nullable Runnable heir() {
    return heir;
  }
}
