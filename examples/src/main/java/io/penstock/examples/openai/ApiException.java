package io.penstock.examples.openai;

import io.netty.handler.codec.http.HttpResponseStatus;

/// An answer that is an error, in the form of the API.
final class ApiException extends RuntimeException {
  private final HttpResponseStatus status;

  ApiException(HttpResponseStatus status, String message) {
    super(message, null, false, false);
    this.status = status;
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
