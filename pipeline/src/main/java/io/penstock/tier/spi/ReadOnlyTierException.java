package io.penstock.tier.spi;

import io.penstock.PermanentKvException;

/// The tier makes or fetches its blocks itself, so callers cannot put or remove blocks.
public final class ReadOnlyTierException extends PermanentKvException {
  private final String tier;

  public ReadOnlyTierException(String tier) {
    super("tier " + tier + " must not be written to (it makes its blocks itself)");
    this.tier = tier;
  }

  public String tier() {
    return tier;
  }
}
