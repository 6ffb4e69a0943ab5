package io.penstock.wire;

import io.penstock.TransientKvException;
import java.time.Duration;

/// A block that a reader awaits, or slices of a put that had credit, did not come in time.
public final class AwaitTimeoutException extends TransientKvException {
  private final String what;
  private final Duration timeout;

  AwaitTimeoutException(String what, Duration timeout) {
    super(what + " must come within " + timeout + " (none did)");
    this.what = what;
    this.timeout = timeout;
  }

  /// What did not come.
  public String what() {
    return what;
  }

  /// How long was waited.
  public Duration timeout() {
    return timeout;
  }
}
