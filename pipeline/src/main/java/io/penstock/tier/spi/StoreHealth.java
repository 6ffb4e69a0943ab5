package io.penstock.tier.spi;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/// How a [BlockStore] is, and why.
///
/// @param problem what is wrong, for people; null if nothing is
public record StoreHealth(StoreState state, @Nullable String problem) {
  /// Nothing is wrong.
  public static final StoreHealth GOOD = new StoreHealth(StoreState.ACTIVE, null);

  public StoreHealth {
    requireNonNull(state, "state");
  }
}
