package io.penstock.gateway.dialect;

import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// Answers that an engine ended early and that look whole: vLLM writes `[DONE]` after a request that it aborted itself,
/// and vllm-ascend after one whose blocks it had to give up.
final class EarlyEnd {
  private static final String REASON = "finish_reason";
  private static final String STOP = "stop_reason";
  private static final String QUOTED_REASON = "\"finish_reason\"";
  private static final String QUOTED_STOP = "\"stop_reason\"";
  private static final List<String> REASONS = List.of("abort", "error");
  private static final List<String> STOPS = List.of("recomputed");
  private static final List<String> QUOTED_VALUES = Stream.of(REASONS, STOPS).flatMap(List::stream)
      .map(value -> "\"" + value + "\"").toList();

  /// What a response is that did not end early: whole, or cut where the request said so.
  static final Set<String> ENDED = Set.of("completed", "incomplete");

  private EarlyEnd() {}

  /// Why an event says that its answer is not whole, or null. Chunks are searched and not parsed.
  static @Nullable String in(AnswerEvent event) {
    return switch (event) {
      case AnswerEvent.Chunk chunk -> {
        String json = chunk.json();
        if (QUOTED_VALUES.stream().noneMatch(json::contains)) {
          yield null; // nearly all chunks
        }
        String reason = oneOf(json, QUOTED_REASON, REASONS);
        yield reason != null ? reason : oneOf(json, QUOTED_STOP, STOPS);
      }
      case AnswerEvent.Whole whole -> whole.body().has("choices")
          ? in(whole.body().path("choices"))
          : inOwn(whole.body());
    };
  }

  /// The same for a message, and for a response.
  private static @Nullable String inOwn(JsonNode body) {
    String status = body.path("status").asString("");
    boolean ended = body.path("type").asString("").equals("message")
        ? body.path(STOP).isString()
        : !body.path("object").asString("").equals("response") || ENDED.contains(status);
    return ended ? null : status.isEmpty() ? "it names no reason" : status;
  }

  private static @Nullable String in(JsonNode choices) {
    for (JsonNode choice : choices) {
      String reason = choice.path(REASON).asString("");
      String stop = choice.path(STOP).asString("");
      if (REASONS.contains(reason) || STOPS.contains(stop)) {
        return STOPS.contains(stop) ? stop : reason;
      }
    }
    return null;
  }

  private static @Nullable String oneOf(String json, String name, List<String> values) {
    int at = Json.valueOf(json, name);
    if (at >= 0 && json.startsWith("\"", at)) {
      for (String value : values) {
        if (json.startsWith(value + "\"", at + 1)) {
          return value;
        }
      }
    }
    return null;
  }
}
