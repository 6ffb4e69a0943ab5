package io.penstock.gateway.engines;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/// JSON as trees.
public final class Tree {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private Tree() {}

  public static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }

  public static JsonNode read(String text) {
    return MAPPER.readTree(text);
  }

  public static String text(JsonNode node) {
    return MAPPER.writeValueAsString(node);
  }
}
