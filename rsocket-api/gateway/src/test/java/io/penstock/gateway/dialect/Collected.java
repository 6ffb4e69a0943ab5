package io.penstock.gateway.dialect;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// What a client makes of an answer.
///
/// @param choices index, text and reason of each choice
/// @param usage the usage, or null
/// @param ids the different ids of its chunks
record Collected(List<String> choices, @Nullable JsonNode usage, List<String> ids) {
  static Collected of(List<AnswerEvent> events) {
    TreeMap<Integer, String> texts = new TreeMap<>();
    TreeMap<Integer, String> reasons = new TreeMap<>();
    JsonNode usage = null;
    List<String> ids = new ArrayList<>();
    for (AnswerEvent event : events) {
      JsonNode tree = event instanceof AnswerEvent.Chunk chunk
          ? Json.tree(chunk.json())
          : ((AnswerEvent.Whole) event).body();
      if (!ids.contains(tree.path("id").asString())) {
        ids.add(tree.path("id").asString());
      }
      for (JsonNode choice : tree.path("choices")) {
        int index = choice.path("index").asInt();
        texts.merge(index, text(choice), String::concat);
        if (choice.hasNonNull("finish_reason")) {
          reasons.put(index, choice.path("finish_reason").asString());
        }
      }
      usage = tree.path("usage").isObject() ? tree.path("usage") : usage;
    }
    List<String> choices = new ArrayList<>();
    texts.forEach((index, text) -> choices.add(index + ":" + text + ":" + reasons.get(index)));
    return new Collected(choices, usage, ids);
  }

  private static String text(JsonNode choice) {
    for (String inner : List.of("delta", "message")) {
      if (choice.has(inner)) {
        return choice.path(inner).path("content").asString("");
      }
    }
    return choice.path("text").asString("");
  }
}
