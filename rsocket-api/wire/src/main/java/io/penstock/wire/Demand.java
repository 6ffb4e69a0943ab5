package io.penstock.wire;

import io.penstock.block.Checks;
import reactor.core.publisher.Operators;

/// Counts what a subscriber asked for and has not got; `Long.MAX_VALUE` is without end.
final class Demand {
  private Demand() {}

  /// @throws IllegalArgumentException if `n` is not above 0, as a peer may ask
  static long plus(long requested, long n) {
    if (n <= 0) {
      throw Checks.misrequest(n);
    }
    return Operators.addCap(requested, n);
  }

  static long minus(long requested, long n) {
    return requested == Long.MAX_VALUE ? requested : requested - n;
  }
}
