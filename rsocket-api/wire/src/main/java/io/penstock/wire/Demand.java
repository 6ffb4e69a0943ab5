package io.penstock.wire;

import reactor.core.publisher.Operators;

/// Counts what a subscriber asked for and has not got; `Long.MAX_VALUE` is without end.
final class Demand {
  private Demand() {}

  static long plus(long requested, long n) {
    return Operators.addCap(requested, n);
  }

  static long minus(long requested, long n) {
    return requested == Long.MAX_VALUE ? requested : requested - n;
  }
}
