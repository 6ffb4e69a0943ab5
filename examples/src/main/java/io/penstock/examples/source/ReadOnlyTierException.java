package io.penstock.examples.source;

import io.penstock.PermanentKvException;

/// The tier makes its blocks itself; nobody can put or remove any.
public final class ReadOnlyTierException extends PermanentKvException {
  public ReadOnlyTierException(String tier) {
    super("tier " + tier + " must not be written to (it makes its blocks itself)");
  }
}
