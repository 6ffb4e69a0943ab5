package io.penstock.disagg.registry;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import io.penstock.disagg.RankId;

/// One rank that a registry has heard itself: not from another registry.
///
/// @param generation the last one that the owner has claimed or registered
/// @param ageNanos time since the registry heard it
public record SignOfLife(RankId rank, long generation, long ageNanos) {
  public SignOfLife {
    requireNonNull(rank, "rank");
    Checks.notNegative("ageNanos", ageNanos);
  }
}
