package io.penstock.gateway.engines;

import java.util.List;
import tools.jackson.databind.JsonNode;

/// A request for tokens, after the checks that vLLM makes before it looks at transfers.
public record Ask(Call call, boolean chat, List<String> prompts, int choices, int most, boolean stream) {
  private static final int DEFAULT_MOST = 16;

  static Ask of(Call call, boolean chat) {
    JsonNode body = call.body();
    Refusal.unless(body.has(chat ? "messages" : "prompt"), "Field required: " + (chat ? "messages" : "prompt"));
    boolean stream = body.path("stream").asBoolean(false);
    Refusal.unless(stream || !body.hasNonNull("stream_options"),
        "Stream options can only be defined when `stream=True`.");
    int most = body.has("max_completion_tokens")
        ? body.path("max_completion_tokens").asInt(0)
        : body.path("max_tokens").asInt(DEFAULT_MOST);
    Refusal.unless(most >= 1, "max_tokens must be at least 1, got " + most + ".");
    Refusal.unless(body.path("min_tokens").asInt(0) <= most, "min_tokens must be less than or equal to max_tokens");
    int choices = body.path("n").asInt(1);
    Refusal.unless(choices >= 1, "n must be at least 1, got " + choices + ".");
    return new Ask(call, chat, Model.prompts(body, chat), choices, most, stream);
  }

  JsonNode body() {
    return call.body();
  }

  JsonNode transfer() {
    return body().path("kv_transfer_params");
  }

  String requestId() {
    String id = call.header("X-Request-Id");
    Refusal.unless(!id.isEmpty(), "X-Request-Id is missing");
    return id;
  }

  boolean includesUsage() {
    return body().path("stream_options").path("include_usage").asBoolean(false);
  }

  boolean namesTokens() {
    return body().path("return_token_ids").asBoolean(false);
  }

  long seed() {
    return body().path("seed").asLong(0);
  }

  /// The rules of a leg that computes a prompt for another engine: it must not decode.
  void requirePrefillOnly() {
    Refusal.unless(!stream, "prefill must not stream");
    Refusal.unless(most == 1 && body().path("max_tokens").asInt(0) == 1, "max_tokens of a prefill must be 1");
  }

  /// The rules of one transfer: it carries one prompt to one reader.
  void requireOne() {
    Refusal.unless(prompts.size() == 1, "one transfer carries one prompt, got " + prompts.size());
    Refusal.unless(choices == 1, "one transfer has one reader, got n=" + choices);
  }
}
