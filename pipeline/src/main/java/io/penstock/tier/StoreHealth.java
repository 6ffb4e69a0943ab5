package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// The health of a store: what it can do now, and what is wrong.
///
/// @param problem what is wrong, in words for people; null if the store is healthy
public record StoreHealth(StoreHealth.State state, @Nullable String problem) {
  /// Healthy.
  public static final StoreHealth GOOD = new StoreHealth(StoreHealth.State.ACTIVE, null);

  public StoreHealth {
    requireNonNull(state, "state");
  }

  /// For people: `active`, or a state with its problem, such as `off: no answer within 5000 ms`.
  public String words() {
    return state.name().toLowerCase(Locale.ROOT) + (problem == null ? "" : ": " + problem);
  }

  /// What a store can do now.
  public enum State {
    /// Takes blocks and gives them.
    ACTIVE,
    /// Gives blocks and takes none, as a full disk does.
    DEGRADED,
    /// Neither takes nor gives.
    OFF;

    /// Whether it takes blocks.
    public boolean takes() {
      return this == ACTIVE;
    }

    /// Whether it gives the blocks that it has.
    public boolean gives() {
      return this != OFF;
    }
  }
}
