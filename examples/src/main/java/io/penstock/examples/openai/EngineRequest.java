package io.penstock.examples.openai;

import io.penstock.block.session.SessionUse;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// What an [Engine] is asked to continue.
///
/// @param id of the request, equal on all engines that work on it
/// @param prompt tokens, at least one
/// @param maxTokens most tokens of the answer, at least 1; they fit behind the prompt
/// @param stopTokens tokens that end the answer, besides those of the model
/// @param ignoreEnd whether the model's own end is a token like others
/// @param transfer `kv_transfer_params` of the request, for engines that exchange KV caches
/// @param session of the request, for engines that keep KV caches in a node; null for none
public record EngineRequest(String id, int[] prompt, int maxTokens, Set<Integer> stopTokens, boolean ignoreEnd,
    @Nullable JsonNode transfer, @Nullable SessionUse session) {
  public EngineRequest {
    stopTokens = Set.copyOf(stopTokens);
  }
}
