package io.penstock.wire;

import io.penstock.TransientKvException;
import java.time.Duration;

/// A block that somebody promised to write did not come in time.
public final class AwaitTimeoutException extends TransientKvException {
  private final Duration timeout;

  AwaitTimeoutException(Duration timeout) {
    super("awaited blocks must come within " + timeout + " (none did)");
    this.timeout = timeout;
  }

  public Duration timeout() {
    return timeout;
  }
}
