package io.penstock.gateway.api;

import java.util.Locale;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.io.JsonStringEncoder;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/// JSON of the endpoints, as trees: fields that the gateway does not know stay in them.
public final class ApiJson {
  public static final JsonMapper MAPPER = JsonMapper.builder().build();

  private static final String LIMITS = limits(MAPPER.tokenStreamFactory().streamReadConstraints());

  private ApiJson() {}

  private static String limits(StreamReadConstraints most) {
    return "levels of body must be at most %d, and digits of a number at most %d (were more)".formatted(
        most.getMaxNestingDepth(),
        most.getMaxNumberLength());
  }

  public static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }

  /// The object that a client sent.
  ///
  /// @throws ApiException with status 400 if the bytes are no JSON object
  public static ObjectNode request(byte[] bytes) {
    JsonNode read;
    try {
      read = MAPPER.readTree(bytes);
    } catch (StreamConstraintsException e) {
      throw new ApiException(400, LIMITS);
    } catch (JacksonException e) {
      TokenStreamLocation at = e.getLocation();
      throw new ApiException(400, at == null || at.getLineNr() < 1
          ? "body must be JSON (was not)"
          : "body must be JSON (was not, at line %d, column %d)".formatted(at.getLineNr(), at.getColumnNr()));
    }
    if (read instanceof ObjectNode object) {
      return object;
    }
    throw new ApiException(400, "body must be a JSON object (was %s)".formatted(
        read.isMissingNode()
            ? "empty"
            : "another kind of value: " + read.getNodeType().name().toLowerCase(Locale.ROOT)));
  }

  public static String text(JsonNode node) {
    return MAPPER.writeValueAsString(node);
  }

  /// The member `type` of an object, see [#member].
  public static String type(String json) {
    return member("type", json);
  }

  /// A text among the members of an object, wherever it stands in it; an empty text if it has none. Nothing else is
  /// built.
  static String member(String name, String json) {
    try (JsonParser parser = MAPPER.createParser(json)) {
      if (parser.nextToken() == JsonToken.START_OBJECT) {
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
          boolean found = parser.currentName().equals(name);
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
