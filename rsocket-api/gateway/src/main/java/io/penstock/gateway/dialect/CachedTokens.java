package io.penstock.gateway.dialect;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// What an answer says about cached tokens. The decode engine counts all that it received as cached, so the figure of
/// the engine that computed the prompt takes its place. Where that figure is unknown, the field is removed.
final class CachedTokens {
  private static final String USAGE = "usage";
  private static final String QUOTED_USAGE = "\"usage\"";
  private static final String DETAILS = "prompt_tokens_details";

  private CachedTokens() {}

  /// Whether an event carries usage. Chunks are searched and not parsed.
  static boolean isIn(AnswerEvent event) {
    return switch (event) {
      case AnswerEvent.Chunk chunk -> hasUsage(chunk.json());
      case AnswerEvent.Whole whole -> whole.body().path(USAGE).isObject();
    };
  }

  static boolean hasUsage(String json) {
    if (!json.contains(QUOTED_USAGE)) {
      return false; // most chunks
    }
    int at = Json.valueOf(json, QUOTED_USAGE);
    return at >= 0 && json.startsWith("{", at);
  }

  /// The event with the details of the prefill's answer.
  ///
  /// @param prefill the prefill's answer, or an empty object when it is unknown
  static AnswerEvent correct(AnswerEvent event, ObjectNode prefill) {
    return switch (event) {
      case AnswerEvent.Chunk chunk -> {
        JsonNode tree = Json.tree(chunk.json());
        yield tree.path(USAGE) instanceof ObjectNode usage && replace(usage, prefill)
            ? new AnswerEvent.Chunk(Json.text(tree))
            : chunk;
      }
      case AnswerEvent.Whole whole -> {
        if (whole.body().path(USAGE) instanceof ObjectNode usage) {
          replace(usage, prefill);
        }
        yield whole;
      }
    };
  }

  private static boolean replace(ObjectNode usage, ObjectNode prefill) {
    JsonNode details = prefill.path(USAGE).path(DETAILS);
    if (details.isObject()) {
      usage.set(DETAILS, details);
      return true;
    }
    return usage.remove(DETAILS) != null;
  }
}
