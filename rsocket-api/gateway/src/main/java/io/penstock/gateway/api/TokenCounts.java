package io.penstock.gateway.api;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The counts of tokens of an answer.
///
/// @param prompt tokens of the prompt, those from caches among them
/// @param cached tokens of the prompt that no engine had to compute; -1 if no engine named them
/// @param completion generated tokens
/// @param reasoning those of them that are thoughts
public record TokenCounts(long prompt, long cached, long completion, long reasoning) {
  public static final TokenCounts NONE = new TokenCounts(0, -1, 0, 0);

  /// The counts in the `usage` of an engine.
  public static TokenCounts of(JsonNode usage) {
    return new TokenCounts(usage.path("prompt_tokens").asLong(0),
        usage.path("prompt_tokens_details").path("cached_tokens").asLong(-1),
        usage.path("completion_tokens").asLong(0),
        usage.path("completion_tokens_details").path("reasoning_tokens").asLong(0));
  }

  private long cachedOrZero() {
    return Math.clamp(cached, 0, prompt);
  }

  ObjectNode responses() {
    ObjectNode usage = ApiJson.object().put("input_tokens", prompt);
    usage.putObject("input_tokens_details").put("cached_tokens", cachedOrZero()).put("cache_write_tokens", 0);
    usage.put("output_tokens", completion);
    usage.putObject("output_tokens_details").put("reasoning_tokens", reasoning);
    return usage.put("total_tokens", prompt + completion);
  }

  /// Tokens from caches are not among the input tokens of this form.
  ObjectNode messages() {
    return ApiJson.object().put("input_tokens", prompt - cachedOrZero())
        .put("cache_creation_input_tokens", 0).put("cache_read_input_tokens", cachedOrZero())
        .put("output_tokens", completion);
  }
}
