package io.penstock.wire.credit;

import reactor.core.publisher.Operators;

/// Counts what a subscriber asked for and has not got; `Long.MAX_VALUE` is without end.
public final class Demand {
  private Demand() {}

  public static long plus(long requested, long n) {
    return Operators.addCap(requested, n);
  }

  public static long minus(long requested, long n) {
    return requested == Long.MAX_VALUE ? requested : requested - n;
  }
}
