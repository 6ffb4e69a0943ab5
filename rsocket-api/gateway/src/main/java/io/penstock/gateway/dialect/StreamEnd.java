package io.penstock.gateway.dialect;

import io.penstock.gateway.api.ApiForm;
import io.penstock.gateway.api.ApiJson;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/// How the streams of an endpoint end, whole or not.
///
/// @param last types of the event that ends a whole answer; none where `[DONE]` does
/// @param failed types of the event that ends a failed answer
record StreamEnd(Set<String> last, Set<String> failed) {
  static final String DONE = "[DONE]";
  private static final String ERROR = "{\"error\"";
  private static final String OBJECT_NAME = "\"object\"";
  private static final String OBJECT = "{" + OBJECT_NAME;
  private static final Set<String> REASONED = Set.of("message_delta", "response.completed", "response.incomplete");
  private static final StreamEnd CHUNKS = new StreamEnd(Set.of(), Set.of());
  private static final StreamEnd RESPONSES =
      new StreamEnd(Set.of("response.completed", "response.incomplete"), Set.of("response.failed", "error"));
  private static final StreamEnd MESSAGES = new StreamEnd(Set.of("message_stop"), Set.of("error"));

  static StreamEnd of(String path) {
    return path.equals(ApiForm.RESPONSES.path())
        ? RESPONSES
        : path.equals(ApiForm.MESSAGES.path()) ? MESSAGES : CHUNKS;
  }

  /// Whether `[DONE]` ends an answer. Where it does not, vLLM writes it after some answers nevertheless.
  private boolean isDone() {
    return last.isEmpty();
  }

  /// What is missing in a stream that ended too early.
  String missing() {
    return isDone() ? DONE : String.join(" or ", last.stream().sorted().toList());
  }

  Mark mark(String json) {
    if (json.equals(DONE)) {
      return isDone() ? Mark.DONE : Mark.NOTHING;
    }
    if (isError(json)) {
      return Mark.FAILED;
    }
    if (isDone()) {
      return Mark.EVENT;
    }
    String type = ApiJson.type(json);
    if (failed.contains(type) || (REASONED.contains(type) && !hasReason(Json.tree(json)))) {
      return Mark.FAILED;
    }
    return last.contains(type) ? Mark.LAST : Mark.EVENT;
  }

  /// Whether an event says why the answer ended. vLLM leaves the reason out where it aborted the answer itself.
  private static boolean hasReason(JsonNode event) {
    return event.path("delta").path("stop_reason").isString()
        || EarlyEnd.ENDED.contains(event.path("response").path("status").asString(""));
  }

  /// An error of today's engines, or of vLLM before errors were nested.
  private static boolean isError(String json) {
    if (json.startsWith(ERROR)) {
      return true;
    }
    return json.startsWith(OBJECT) && json.startsWith("\"error\"", Math.max(0, Json.valueOf(json, OBJECT_NAME)));
  }

  /// What the data of a line means.
  enum Mark {
    /// A part of the answer.
    EVENT,
    /// The last part of the answer.
    LAST,
    /// The answer is whole, and this line is no part of it.
    DONE,
    /// The answer failed.
    FAILED,
    /// A line that means nothing.
    NOTHING
  }
}
