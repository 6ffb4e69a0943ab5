package io.penstock.wire;

import io.penstock.TransientKvException;
import java.time.Duration;

/// What somebody promised to send did not come in time: a block that a reader awaits, or slices of a put that there was
/// credit for.
public final class AwaitTimeoutException extends TransientKvException {
  private final Duration timeout;

  AwaitTimeoutException(String what, Duration timeout) {
    super(what + " must come within " + timeout + " (none did)");
    this.timeout = timeout;
  }

  /// How long was waited.
  public Duration timeout() {
    return timeout;
  }
}
