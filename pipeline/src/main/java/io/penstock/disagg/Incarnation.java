package io.penstock.disagg;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;

/// A rank from one start of its process to its end. Messages of an earlier incarnation are stale.
///
/// @param generation greater at each start of the rank: a registry knows the next one
public record Incarnation(RankId rank, long generation) {
  public Incarnation {
    requireNonNull(rank, "rank");
    Checks.notNegative("generation", generation);
  }

  @Override
  public String toString() {
    return rank + "@" + generation;
  }
}
