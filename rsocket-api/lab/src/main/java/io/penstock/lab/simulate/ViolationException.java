package io.penstock.lab.simulate;

import org.jspecify.annotations.Nullable;

/// A run broke an invariant of the house. Says which, under which seed, and how to see it again.
final class ViolationException extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private final long seed;
  private final Invariant invariant;

  ViolationException(long seed, Invariant invariant, String detail, @Nullable Throwable cause) {
    super("seed " + seed + ": " + invariant.sentence() + " (" + detail + "); again by: " + again(seed), cause);
    this.seed = seed;
    this.invariant = invariant;
  }

  long seed() {
    return seed;
  }

  Invariant invariant() {
    return invariant;
  }

  /// The command line that runs it again, exactly.
  String again() {
    return again(seed);
  }

  private static String again(long seed) {
    return "penstock simulate --seeds " + seed + ".." + seed;
  }
}
