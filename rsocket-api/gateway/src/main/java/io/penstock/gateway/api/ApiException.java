package io.penstock.gateway.api;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// A refusal that the client is told in the form of its endpoint.
public final class ApiException extends RuntimeException {
  private static final int BAD_REQUEST = 400;
  private static final long serialVersionUID = 1;

  private final int status;
  private final @Nullable Duration retryAfter;

  public ApiException(int status, String message) {
    this(status, message, null);
  }

  /// @param retryAfter when another attempt may succeed; null if that is not known
  public ApiException(int status, String message, @Nullable Duration retryAfter) {
    super(message, null, false, false);
    this.status = status;
    this.retryAfter = retryAfter;
  }

  /// A field that breaks its rule.
  static ApiException field(String name, String rule, Object was) {
    String text = String.valueOf(was);
    return new ApiException(BAD_REQUEST,
        "%s must be %s (was %s)".formatted(name, rule, text.length() > 80 ? text.substring(0, 80) + "…" : text));
  }

  public int status() {
    return status;
  }

  public @Nullable Duration retryAfter() {
    return retryAfter;
  }
}
