package io.penstock.gateway.api;

import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.io.JsonStringEncoder;
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

  /// The member `type` of an object, wherever it stands in it; an empty text if it has none. Nothing else is built.
  public static String type(String json) {
    try (JsonParser parser = MAPPER.createParser(json)) {
      if (parser.nextToken() == JsonToken.START_OBJECT) {
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
          boolean found = parser.currentName().equals("type");
          JsonToken value = parser.nextToken();
          if (found) {
            return value == JsonToken.VALUE_STRING ? parser.getString() : "";
          }
          parser.skipChildren();
        }
      }
      return "";
    } catch (JacksonException e) {
      return "";
    }
  }

  /// Appends a text as JSON has it.
  static void quoted(String text, StringBuilder to) {
    to.append('"');
    JsonStringEncoder.getInstance().quoteAsString(text, to);
    to.append('"');
  }

  static JsonNode orEmpty(JsonNode node) {
    return node.isNull() ? object() : node;
  }
}
