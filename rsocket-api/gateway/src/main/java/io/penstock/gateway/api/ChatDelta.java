package io.penstock.gateway.api;

import io.penstock.gateway.chunk.EngineChunk;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/// What one chunk of a chat brings.
///
/// @param text new text, or an empty text
/// @param calls parts of tool calls
/// @param finish why the answer ended; null while it goes on
/// @param stop the text that ended it, if the engine names it
/// @param usage the counts of tokens, or a missing node
record ChatDelta(String text, JsonNode calls, @Nullable String finish, JsonNode stop, JsonNode usage) {
  /// Most chunks bring a text alone: only others become trees.
  static ChatDelta of(EngineChunk chunk) {
    boolean hasMore = chunk.hasUsage() || chunk.hasCalls() || chunk.finish() != null;
    JsonNode tree = hasMore ? chunk.tree() : MissingNode.getInstance();
    JsonNode choice = tree.path("choices").path(0);
    return new ChatDelta(chunk.content(), choice.path("delta").path("tool_calls"), chunk.finish(),
        choice.path("stop_reason"), tree.path("usage"));
  }
}
