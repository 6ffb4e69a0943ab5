package io.penstock.disagg.registry;

import io.penstock.TransientKvException;

/// No rank of an instance is registered, or not all of them.
public final class UnknownInstanceException extends TransientKvException {
  private final String instance;
  private final int registered;
  private final int ranks;

  UnknownInstanceException(String instance, int registered, int ranks) {
    super(ranks == 0
        ? "instance " + instance + " must have registered (has not)"
        : "all " + ranks + " ranks of instance " + instance + " must have registered (have " + registered + ")");
    this.instance = instance;
    this.registered = registered;
    this.ranks = ranks;
  }

  public String instance() {
    return instance;
  }

  /// Distinct ranks that are there.
  public int registered() {
    return registered;
  }

  /// Ranks that it has; 0 if it is not known.
  public int ranks() {
    return ranks;
  }
}
