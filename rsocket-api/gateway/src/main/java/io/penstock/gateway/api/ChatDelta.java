package io.penstock.gateway.api;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// What one chunk of a chat brings.
///
/// @param text new text, or an empty text
/// @param calls parts of tool calls
/// @param finish why the answer ended; null while it goes on
/// @param stop the text that ended it, if the engine names it
/// @param usage the counts of tokens, or a missing node
record ChatDelta(String text, JsonNode calls, @Nullable String finish, JsonNode stop,
    JsonNode usage) {
  static ChatDelta of(String json) {
    JsonNode tree = ApiJson.chunk(json);
    JsonNode choice = tree.path("choices").path(0);
    JsonNode delta = choice.path("delta");
    JsonNode finish = choice.path("finish_reason");
    return new ChatDelta(delta.path("content").asString(""), delta.path("tool_calls"),
        finish.isString() ? finish.asString() : null, choice.path("stop_reason"), tree.path("usage"));
  }
}
