package io.penstock.gateway.api;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Errors in the form of each endpoint.
public final class ApiErrors {
  private static final int MAX_DETAIL = 4096;
  private static final int MAX_PARAM = 128;
  private static final Pattern BLAMED = Pattern.compile("([a-z][a-z_]{0,40}) must ");

  private ApiErrors() {}

  /// The body of an answer that is an error.
  ///
  /// @param param the field of the request that is at fault; null if none is
  public static ObjectNode body(ApiForm form, int status, String message, @Nullable String param, String requestId) {
    ObjectNode body = ApiJson.object();
    if (form == ApiForm.MESSAGES) {
      body.put("type", "error");
      body.putObject("error").put("type", anthropicType(status)).put("message", message);
      body.put("request_id", requestId);
    } else {
      body.putObject("error").put("message", message).put("type", openAiType(status)).put("param", param)
          .put("code", openAiCode(status, param));
    }
    return body;
  }

  /// A response that failed after it began.
  static ObjectNode failed(ObjectNode response, int status, String message) {
    response.put("status", "failed").putObject("error")
        .put("code", status == 429 ? "rate_limit_exceeded" : "server_error").put("message", message);
    return response;
  }

  /// The field that an engine's error names, or that its message begins with; null if it names none.
  ///
  /// @param request what the engine was asked
  public static @Nullable String paramOf(String engineBody, ObjectNode request) {
    try {
      JsonNode param = ApiJson.MAPPER.readTree(engineBody).path("error").path("param");
      if (param.isString() && param.asString().length() <= MAX_PARAM) {
        return param.asString();
      }
      Matcher blamed = BLAMED.matcher(messageOf(engineBody, ""));
      return blamed.lookingAt() && request.has(blamed.group(1)) ? blamed.group(1) : null;
    } catch (JacksonException e) {
      return null;
    }
  }

  /// The message of an engine's error, or `otherwise` when the engine's body is of no known form.
  public static String messageOf(String engineBody, String otherwise) {
    try {
      JsonNode tree = ApiJson.MAPPER.readTree(engineBody);
      for (JsonNode place : new JsonNode[] {tree.path("error").path("message"), tree.path("message"),
        tree.path("detail"), tree.path("error")}) {
        if (place.isString() && !place.asString().isBlank()) {
          String text = place.asString();
          return text.length() > MAX_DETAIL ? text.substring(0, MAX_DETAIL) : text;
        }
      }
      return otherwise;
    } catch (JacksonException e) {
      return otherwise;
    }
  }

  private static String openAiType(int status) {
    return switch (status) {
      case 403 -> "permission_error";
      case 429 -> "rate_limit_error";
      default -> status < 500 ? "invalid_request_error" : "server_error";
    };
  }

  private static String openAiCode(int status, @Nullable String param) {
    return switch (status) {
      case 401 -> "invalid_api_key";
      case 404 -> "model".equals(param) ? "model_not_found" : "not_found";
      case 405 -> "method_not_allowed";
      case 408, 504 -> "timeout";
      case 413 -> "request_too_large";
      case 415 -> "unsupported_media_type";
      case 429 -> "rate_limit_exceeded";
      case 503 -> "overloaded";
      default -> status < 500 ? "invalid_request" : "engine_error";
    };
  }

  private static String anthropicType(int status) {
    return switch (status) {
      case 401 -> "authentication_error";
      case 403 -> "permission_error";
      case 404 -> "not_found_error";
      case 413 -> "request_too_large";
      case 429 -> "rate_limit_error";
      case 503 -> "overloaded_error";
      case 504 -> "timeout_error";
      default -> status < 500 ? "invalid_request_error" : "api_error";
    };
  }
}
