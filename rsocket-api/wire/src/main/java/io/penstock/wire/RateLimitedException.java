package io.penstock.wire;

import io.penstock.TransientKvException;
import java.time.Duration;

/// The connection has asked more often than the node allows; the same request may succeed later.
public final class RateLimitedException extends TransientKvException {
  private final long most;
  private final Duration retryAfter;

  RateLimitedException(long most, Duration retryAfter) {
    super("requests of a connection must be <= " + most + " a second (were more; try again in "
        + Math.max(1, retryAfter.toMillis()) + " ms)");
    this.most = most;
    this.retryAfter = retryAfter;
  }

  /// Most requests a second.
  public long most() {
    return most;
  }

  /// When the next request would be allowed, counted from the refusal.
  public Duration retryAfter() {
    return retryAfter;
  }
}
