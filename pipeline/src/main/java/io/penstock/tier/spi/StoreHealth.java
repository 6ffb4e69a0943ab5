package io.penstock.tier.spi;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/// What a [BlockStore] can do now, and why not more.
///
/// @param problem what is wrong, for people; null if it is healthy
public record StoreHealth(StoreState state, @Nullable String problem) {
  /// Healthy.
  public static final StoreHealth GOOD = new StoreHealth(StoreState.ACTIVE, null);

  public StoreHealth {
    requireNonNull(state, "state");
  }
}
