package io.penstock.gateway.api;

import io.penstock.gateway.chunk.EngineChunk;
import tools.jackson.databind.JsonNode;

/// Counts of tokens in an answer that an engine wrote in the form of `/v1/responses` or `/v1/messages`. Streams of
/// messages name them twice, at the begin and at the end. One answer; not safe for use by several threads at once.
public final class OwnUsage {
  private TokenCounts counts = TokenCounts.NONE;

  /// Takes an event of a stream. Events are searched, and parsed only where they name counts.
  ///
  /// @return the counts that are known now
  public TokenCounts take(EngineChunk event) {
    if (event.hasUsage()) {
      JsonNode tree = event.tree();
      for (String holder : new String[] {"response", "message"}) {
        add(tree.path(holder).path("usage"));
      }
      add(tree.path("usage"));
    }
    return counts;
  }

  /// Takes a whole answer.
  public TokenCounts take(JsonNode whole) {
    add(whole.path("usage"));
    return counts;
  }

  /// `input_tokens` of messages leave out what caches had, those of responses include it.
  private void add(JsonNode usage) {
    if (!usage.isObject()) {
      return;
    }
    JsonNode read = usage.path("cache_read_input_tokens");
    JsonNode details = usage.path("input_tokens_details").path("cached_tokens");
    long cached = read.isNumber() ? read.asLong() : details.asLong(-1);
    long prompt = usage.path("input_tokens").asLong(0) + read.asLong(0)
        + usage.path("cache_creation_input_tokens").asLong(0);
    counts = new TokenCounts(Math.max(counts.prompt(), prompt), Math.max(counts.cached(), cached),
        Math.max(counts.completion(), usage.path("output_tokens").asLong(0)), Math.max(counts.reasoning(),
            usage.path("output_tokens_details").path("reasoning_tokens").asLong(0)));
  }
}
