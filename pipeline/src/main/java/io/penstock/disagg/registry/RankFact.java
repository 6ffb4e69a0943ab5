package io.penstock.disagg.registry;

import static java.util.Objects.requireNonNull;

import io.penstock.disagg.RankId;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/// What one registry tells the others of a rank: all that it knows but when the rank was heard. Facts of one rank have
/// a total order, and each registry keeps the greatest, so in whatever order they arrive, all registries know the same
/// in the end. The higher generation is the greater.
///
/// @param generation the last one that was claimed or registered
/// @param edition number of the fact among those of its generation, so far as its teller knows
/// @param teller number that only the registry has that told it
/// @param owner of the rank, or its last one
/// @param registration null for a rank that has not registered, or that is free. Of an earlier generation if a later
///     one is claimed
public record RankFact(RankId rank, long generation, long edition, long teller, RankOwner owner, State state,
    @Nullable Registration registration) implements Comparable<RankFact> {
  /// Whose the rank is.
  public enum State {
    /// It has an owner, as long as that one is heard.
    OWNED,
    /// It is free: the owner has left.
    LEFT,
    /// It is free: no registry has heard the owner for long. One that has knows better.
    LOST
  }

  private static final Comparator<RankFact> ORDER = Comparator.comparingLong(RankFact::generation)
      .thenComparingLong(RankFact::edition).thenComparingLong(RankFact::teller);

  public RankFact {
    requireNonNull(rank, "rank");
    requireNonNull(owner, "owner");
    requireNonNull(state, "state");
    if (registration != null && (state != State.OWNED || !registration.who().rank().equals(rank))) {
      throw new IllegalArgumentException(
          "registration must be of rank %s while it is owned (was of %s, %s)".formatted(rank, registration.who(),
              state));
    }
  }

  boolean isFree() {
    return state != State.OWNED;
  }

  /// Whether it says what `other` says.
  boolean saysAs(RankFact other) {
    return generation == other.generation && owner.equals(other.owner) && state == other.state
        && (registration == null ? other.registration == null : registration.equals(other.registration));
  }

  /// Orders facts of one rank.
  @Override
  public int compareTo(RankFact other) {
    return ORDER.compare(this, other);
  }
}
