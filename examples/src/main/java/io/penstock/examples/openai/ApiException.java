package io.penstock.examples.openai;

import io.netty.handler.codec.http.HttpResponseStatus;
import org.jspecify.annotations.Nullable;

/// An answer that is an error, in the form of the API.
final class ApiException extends RuntimeException {
  private final HttpResponseStatus status;
  private final @Nullable String param;

  ApiException(HttpResponseStatus status, String message) {
    this(status, message, null);
  }

  private ApiException(HttpResponseStatus status, String message, @Nullable String param) {
    super(message, null, false, false);
    this.status = status;
    this.param = param;
  }

  /// A field that breaks its rule.
  ///
  /// @param param the field
  static ApiException ofField(String param, String message) {
    return new ApiException(HttpResponseStatus.BAD_REQUEST, message, param);
  }

  static ApiException badRequest(String message) {
    return new ApiException(HttpResponseStatus.BAD_REQUEST, message);
  }

  static ApiException of(Throwable error) {
    if (error instanceof ApiException known) {
      return known;
    }
    return error instanceof IllegalArgumentException
        ? badRequest(String.valueOf(error.getMessage()))
        : new ApiException(HttpResponseStatus.INTERNAL_SERVER_ERROR, "The engine failed: " + error);
  }

  HttpResponseStatus status() {
    return status;
  }

  /// The field that is at fault; null if none is.
  @Nullable String param() {
    return param;
  }

  /// The `type` of the error, as vLLM names it.
  String type() {
    return switch (status.code()) {
      case 400 -> "BadRequestError";
      case 404 -> "NotFoundError";
      case 503 -> "ServiceUnavailableError";
      default -> status.code() < 500 ? "BadRequestError" : "InternalServerError";
    };
  }
}
