package io.penstock.tier;

import java.time.Duration;

/// What a reader asks of a read lease.
///
/// @param life how long it lasts unless a reader renews it; zero for the tier's default
/// @param prefixOnly whether to lease the longest prefix alone, and not the found blocks behind a miss
/// @param survives whether it outlives the connection that asked for it; then its life ends it
public record LeaseTerms(Duration life, boolean prefixOnly, boolean survives) {
  public LeaseTerms {
    if (life.isNegative()) {
      throw new IllegalArgumentException("life must be >= 0 (was " + life + ")");
    }
  }

  /// The tier's default life, the longest prefix, and an end with the connection.
  public static LeaseTerms defaults() {
    return new LeaseTerms(Duration.ZERO, true, false);
  }

  public LeaseTerms withLife(Duration life) {
    return new LeaseTerms(life, prefixOnly, survives);
  }

  public LeaseTerms withPrefixOnly(boolean prefixOnly) {
    return new LeaseTerms(life, prefixOnly, survives);
  }

  public LeaseTerms withSurvives(boolean survives) {
    return new LeaseTerms(life, prefixOnly, survives);
  }
}
