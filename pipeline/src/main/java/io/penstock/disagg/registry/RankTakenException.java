package io.penstock.disagg.registry;

import static java.util.Objects.requireNonNull;

import io.penstock.TransientKvException;
import java.time.Duration;

/// A rank belongs to another owner, who lives. It is free once the owner leaves, or has been silent for a while.
public final class RankTakenException extends TransientKvException {
  private final String rank;
  private final Duration silence;

  /// @param rank in text
  /// @param silence of the owner after which the rank is free
  public RankTakenException(String rank, Duration silence) {
    super("rank %s must be registered by its owner, who was heard within %d ms (was by another)".formatted(rank,
        silence.toMillis()));
    this.rank = requireNonNull(rank, "rank");
    this.silence = silence;
  }

  /// The rank, in text.
  public String rank() {
    return rank;
  }

  public Duration silence() {
    return silence;
  }
}
