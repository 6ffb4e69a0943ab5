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

  /// The place where the value of the last member with a name begins, or -1. The text is searched and not parsed: a
  /// quote inside of a JSON text is escaped, so generated words cannot be taken for a member's name.
  ///
  /// @param quoted the name with its quotes
  static int valueOf(String json, String quoted) {
    int at = json.lastIndexOf(quoted);
    if (at < 0) {
      return -1;
    }
    int colon = afterSpace(json, at + quoted.length());
    return colon < json.length() && json.charAt(colon) == ':' ? afterSpace(json, colon + 1) : -1;
  }

  private static int afterSpace(String json, int from) {
    int at = from;
    while (at < json.length() && json.charAt(at) == ' ') {
      at++;
    }
    return at;
  }
}
