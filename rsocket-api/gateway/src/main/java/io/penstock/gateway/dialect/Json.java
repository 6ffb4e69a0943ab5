package io.penstock.gateway.dialect;

import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/// JSON as trees.
final class Json {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private Json() {}

  static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }

  static byte[] bytes(JsonNode node) {
    return MAPPER.writeValueAsBytes(node);
  }

  static String text(JsonNode node) {
    return MAPPER.writeValueAsString(node);
  }

  /// Reads a tree.
  ///
  /// @throws JacksonException if the text is not JSON
  static JsonNode tree(String text) {
    return MAPPER.readTree(text);
  }

  static JsonNode tree(byte[] text) {
    return MAPPER.readTree(text);
  }
}
