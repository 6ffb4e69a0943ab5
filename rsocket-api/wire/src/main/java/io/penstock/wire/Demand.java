package io.penstock.wire;

import reactor.core.publisher.Operators;

/// Counts what a subscriber asked for and has not got; `Long.MAX_VALUE` is without end.
final class Demand {
  private Demand() {}

  /// @throws IllegalArgumentException if `n` is not above 0, as a peer may ask
  static long plus(long requested, long n) {
    if (n <= 0) {
      throw new IllegalArgumentException("n must be > 0 (was " + n + "), Reactive Streams rule 3.9");
    }
    return Operators.addCap(requested, n);
  }

  static long minus(long requested, long n) {
    return requested == Long.MAX_VALUE ? requested : requested - n;
  }
}
