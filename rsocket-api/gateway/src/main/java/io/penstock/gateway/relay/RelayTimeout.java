package io.penstock.gateway.relay;

import io.penstock.gateway.api.ApiException;
import java.time.Duration;

/// Limits of time that a request broke.
final class RelayTimeout {
  private static final int GATEWAY_TIMEOUT = 504;

  private RelayTimeout() {}

  static ApiException of(String what, Duration limit) {
    return new ApiException(GATEWAY_TIMEOUT,
        "time of %s must be at most %d ms (was longer)".formatted(what, limit.toMillis()));
  }
}
