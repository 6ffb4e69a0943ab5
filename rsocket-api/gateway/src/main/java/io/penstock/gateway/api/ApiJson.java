package io.penstock.gateway.api;

import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/// JSON of the endpoints, as trees: fields that the gateway does not know stay in them.
public final class ApiJson {
  public static final JsonMapper MAPPER = JsonMapper.builder().build();

  private ApiJson() {}

  public static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }

  /// The tree of an engine's chunk; an empty object if it is none.
  public static JsonNode chunk(String json) {
    try {
      return MAPPER.readTree(json);
    } catch (JacksonException e) {
      return object();
    }
  }

  /// The object that a client sent.
  ///
  /// @throws ApiException with status 400 if the bytes are no JSON object
  public static ObjectNode request(byte[] bytes) {
    try {
      if (MAPPER.readTree(bytes) instanceof ObjectNode object) {
        return object;
      }
    } catch (JacksonException e) {
      throw new ApiException(400, "body must be JSON (was not: " + e.getOriginalMessage() + ")");
    }
    throw new ApiException(400, "body must be a JSON object (was another value)");
  }

  public static String text(JsonNode node) {
    return MAPPER.writeValueAsString(node);
  }

  static JsonNode orEmpty(JsonNode node) {
    return node.isNull() ? object() : node;
  }
}
