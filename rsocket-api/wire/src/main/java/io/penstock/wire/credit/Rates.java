package io.penstock.wire.credit;

import io.penstock.check.Checks;

/// How fast one connection may go; both may come in a burst of one second.
///
/// @param requests most requests a second: one too many fails with `RateLimitedException`; 0 for any number. Requests
///     that free what is held always pass
/// @param bytes most bytes of blocks and segments a second, both ways together: more of them wait for their credit;
///     0 for any number
public record Rates(long requests, long bytes) {
  public Rates {
    Checks.notNegative("requests", requests);
    Checks.notNegative("bytes", bytes);
  }

  /// Any number of both.
  public static Rates none() {
    return new Rates(0, 0);
  }
}
