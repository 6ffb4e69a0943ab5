package io.penstock.gateway.api;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// A refusal that the client is told in the form of its endpoint.
public final class ApiException extends RuntimeException {
  private static final int BAD_REQUEST = 400;
  private static final long serialVersionUID = 1;

  private final int status;
  private final @Nullable Duration retryAfter;
  private final @Nullable String param;

  public ApiException(int status, String message) {
    this(status, message, null);
  }

  /// @param retryAfter when another attempt may succeed; null if that is not known
  public ApiException(int status, String message, @Nullable Duration retryAfter) {
    this(status, message, retryAfter, null);
  }

  private ApiException(int status, String message, @Nullable Duration retryAfter, @Nullable String param) {
    super(message, null, false, false);
    this.status = status;
    this.retryAfter = retryAfter;
    this.param = param;
  }

  /// A refusal that names a field of the request.
  ///
  /// @param param the field; null if none is at fault
  public static ApiException of(int status, String message, @Nullable String param) {
    return new ApiException(status, message, null, param);
  }

  /// A field that breaks its rule.
  static ApiException field(String name, String rule, Object was) {
    String text = String.valueOf(was);
    String message =
        "%s must be %s (was %s)".formatted(name, rule, text.length() > 80 ? text.substring(0, 80) + "…" : text);
    return of(BAD_REQUEST, message, name.contains(" ") ? null : name);
  }

  public int status() {
    return status;
  }

  public @Nullable Duration retryAfter() {
    return retryAfter;
  }

  /// The field of the request that is at fault; null if none is.
  public @Nullable String param() {
    return param;
  }
}
