package io.penstock.operator;

import reactor.core.publisher.Operators;

/// Arithmetic of what a subscriber requested and has not received. `Long.MAX_VALUE` has no end.
public final class Demand {
  private Demand() {}

  /// `requested` and `n` more.
  ///
  /// @throws IllegalArgumentException see [#refusal]; `n` would count as demand without end
  public static long plus(long requested, long n) {
    if (n <= 0) {
      throw refusal(n);
    }
    return Operators.addCap(requested, n);
  }

  /// `requested` without `n` elements that were sent.
  public static long minus(long requested, long n) {
    return requested == Long.MAX_VALUE ? requested : requested - n;
  }

  /// The error signal that answers a request for `n` elements, where `n` is not positive.
  public static IllegalArgumentException refusal(long n) {
    return new IllegalArgumentException("request must be > 0 (was " + n + "), Reactive Streams rule 3.9");
  }
}
