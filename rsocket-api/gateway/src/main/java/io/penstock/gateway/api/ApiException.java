package io.penstock.gateway.api;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// A refusal that the client is told in the form of its endpoint.
public final class ApiException extends RuntimeException {
  private static final int BAD_REQUEST = 400;
  private static final int MOST_SHOWN = 80;
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
  public static ApiException field(String name, String rule, JsonNode was) {
    return part(name, name, rule, was);
  }

  /// A header that breaks its rule.
  public static ApiException header(String name, String rule, String was) {
    return of(BAD_REQUEST, "%s must be %s (was %s)".formatted(name, rule, Shown.of(was)), name);
  }

  /// A part of a field that breaks its rule.
  ///
  /// @param param the field
  /// @param name of the part
  static ApiException part(String param, String name, String rule, JsonNode was) {
    String text = was.isMissingNode() ? "missing" : was.toString();
    return of(BAD_REQUEST, "%s must be %s (was %s)".formatted(name, rule,
        text.length() > MOST_SHOWN ? text.substring(0, MOST_SHOWN) + "…" : text), param);
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
