package io.penstock.gateway.api;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// Answers of `/v1/models`, in OpenAI's form and in the form of clients of messages.
public final class Models {
  private Models() {}

  /// All models as engines describe them.
  public static ObjectNode list(Map<String, JsonNode> models) {
    ObjectNode list = ApiJson.object().put("object", "list");
    list.putArray("data").addAll(models.values());
    return list;
  }

  /// One page with all models, for clients of messages.
  public static ObjectNode messagesList(Map<String, JsonNode> models) {
    ObjectNode list = ApiJson.object();
    ArrayNode data = list.putArray("data");
    models.forEach((name, model) -> data.add(messagesModel(name, model)));
    List<String> names = List.copyOf(models.keySet());
    return list.put("has_more", false).put("first_id", names.getFirst()).put("last_id", names.getLast());
  }

  /// One model, for clients of messages.
  public static ObjectNode messagesModel(String name, JsonNode model) {
    ObjectNode shown = ApiJson.object().put("type", "model").put("id", name).put("display_name", name)
        .put("created_at", Instant.ofEpochSecond(model.path("created").asLong(0)).toString())
        .put("lifecycle", "active").putNull("deprecated_at").putNull("retires_at").putNull("line")
        .putNull("capabilities").putNull("max_tokens").putNull("max_input_tokens");
    if (model.path("max_model_len").isIntegralNumber()) {
      shown.set("max_input_tokens", model.path("max_model_len"));
    }
    return shown;
  }
}
