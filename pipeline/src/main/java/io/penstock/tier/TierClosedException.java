package io.penstock.tier;

import io.penstock.PermanentKvException;

/// The tier was closed.
public final class TierClosedException extends PermanentKvException {
  private final String tier;

  public TierClosedException(String tier) {
    super("tier " + tier + " must be open (was closed)");
    this.tier = tier;
  }

  public String tier() {
    return tier;
  }
}
