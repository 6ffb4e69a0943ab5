package io.penstock.node.tiers;

import io.penstock.check.Checks;

/// Spaces that clients may open.
///
/// @param most maximum number of them; 0 for none
/// @param percent of host memory that is guaranteed to all of them, and the quota of each
public record OpenSpaces(int most, int percent) {
  /// Clients open none.
  public static final OpenSpaces NONE = new OpenSpaces(0, 1);

  public OpenSpaces {
    Checks.notNegative("most", most);
    if (percent <= 0 || percent >= 100) {
      throw new IllegalArgumentException("percent must be in [1, 99] (was " + percent + ")");
    }
  }

  /// The weight of one of them, if the other spaces together have `others`.
  double weight(double others) {
    return others * percent / (100 - percent) / most;
  }
}
