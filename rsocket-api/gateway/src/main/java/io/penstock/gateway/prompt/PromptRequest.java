package io.penstock.gateway.prompt;

import io.penstock.gateway.choice.PromptBlocks;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A request whose prompt is looked at.
///
/// @param body JSON of the request, of the form of `/v1/completions` (with `prompt`) or of `/v1/chat/completions` (with
///   `messages`); it is not changed
/// @param adapter name of the LoRA adapter that the request's model stands for; null for none
public record PromptRequest(ObjectNode body, @Nullable String adapter) {
  boolean isChat() {
    return body.path("messages").isArray();
  }

  /// The prompt of a completion. Of several the first, because all go to one instance.
  JsonNode prompt() {
    JsonNode prompt = body.path("prompt");
    return prompt.isArray() && !prompt.isEmpty() && !prompt.get(0).isNumber() ? prompt.get(0) : prompt;
  }

  /// Name before the first block of this prompt.
  long root() {
    JsonNode salt = body.path("cache_salt");
    return PromptBlocks.root(adapter, salt.isString() ? salt.asString() : null);
  }
}
