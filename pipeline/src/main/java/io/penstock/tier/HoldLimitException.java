package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.TransientKvException;

/// Leases or pins would exceed their bound. A retry can succeed when others have ended.
public final class HoldLimitException extends TransientKvException {
  private final String what;
  private final long wanted;
  private final long most;

  /// @param what is bounded
  /// @param wanted how many there would be
  /// @param most how many there may be
  public HoldLimitException(String what, long wanted, long most) {
    super(what + " must be <= " + most + " (was " + wanted + ")");
    this.what = requireNonNull(what, "what");
    this.wanted = wanted;
    this.most = most;
  }

  public String what() {
    return what;
  }

  public long wanted() {
    return wanted;
  }

  public long most() {
    return most;
  }
}
