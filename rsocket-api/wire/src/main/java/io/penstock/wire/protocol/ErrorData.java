package io.penstock.wire.protocol;

import io.penstock.block.BlockKey;
import io.penstock.block.Plane;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.cbor.CBORFactory;
import tools.jackson.dataformat.cbor.CBORMapper;

/// Values of an ERROR frame for programs: named values, a CBOR map on the wire.
///
/// The map travels in base64 behind the sentence for people and a [#MARK], because libraries hand the data of ERROR
/// frames to their callers as UTF-8 text, which raw CBOR does not survive. On a connection whose control messages are
/// JSON, it travels as JSON text. It is small, and all of it is checked before it is used.
final class ErrorData {
  /// Separates the sentence from the map: the record separator of ASCII.
  static final char MARK = '\u001E';
  private static final int LONGEST_TEXT = 256;
  private static final int LONGEST_WRITTEN = 4096;
  private static final int MOST_PLANES = 16;
  private static final CBORMapper CBOR = CBORMapper.builder(CBORFactory.builder().streamReadConstraints(
      StreamReadConstraints.builder().maxNestingDepth(3).maxDocumentLength(LONGEST_WRITTEN)
          .maxStringLength(LONGEST_WRITTEN).maxNameLength(LONGEST_TEXT).maxNumberLength(20).build())
      .build()).enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();

  private static final JsonMapper JSON = JsonMapper.shared();

  private final ObjectNode values;

  private ErrorData(ObjectNode values) {
    this.values = values;
  }

  static ErrorData none() {
    return new ErrorData(CBOR.createObjectNode());
  }

  ErrorData with(String name, long value) {
    values.put(name, value);
    return this;
  }

  /// Adds the name of a block under `key`.
  ErrorData with(BlockKey key) {
    ByteBuffer bytes = ByteBuffer.allocate(BlockKey.BYTES);
    key.write(bytes);
    values.put("key", bytes.array());
    return this;
  }

  /// Adds a whole number or a list of [Plane] as such, anything else as text.
  ErrorData with(String name, Object value) {
    switch (value) {
      case Integer number -> values.put(name, number.longValue());
      case Long number -> values.put(name, number);
      case List<?> list when isPlanes(list) -> {
        ArrayNode planes = values.putArray(name);
        list.forEach(plane -> planes.addPOJO(CBOR.valueToTree(Handshake.PlaneShape.of((Plane) plane))));
      }
      default -> values.put(name, shortened(value.toString()));
    }
    return this;
  }

  /// A text of bounded length that UTF-8 has: half of a surrogate pair, cut or sent by a hostile peer, becomes a `?`.
  private static String shortened(String text) {
    String kept = text.length() <= LONGEST_TEXT ? text : text.substring(0, LONGEST_TEXT - 1) + "…";
    return new String(kept.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
  }

  private static boolean isPlanes(List<?> list) {
    return !list.isEmpty() && list.size() <= MOST_PLANES && list.stream().allMatch(Plane.class::isInstance);
  }

  /// The map, in base64.
  String written() {
    return Base64.getEncoder().encodeToString(CBOR.writeValueAsBytes(values));
  }

  /// The map as JSON text, with byte strings in base64.
  String json() {
    return JSON.writeValueAsString(values);
  }

  /// Reads what [#written()] wrote; null if it is nothing of the kind: then the sentence is all there is.
  static @Nullable ErrorData read(String written) {
    if (written.length() > LONGEST_WRITTEN) {
      return null;
    }
    try {
      return CBOR.readTree(Base64.getDecoder().decode(written)) instanceof ObjectNode map ? new ErrorData(map) : null;
    } catch (RuntimeException e) { // no base64, no CBOR, a map beyond its bounds, or bytes on which the parser stumbles
      return null;
    }
  }

  /// @throws WireFormatException if there is no such text
  String text(String name) {
    JsonNode value = present(name);
    if (!value.isString() || value.stringValue().length() > LONGEST_TEXT) {
      throw WireFormatException.request(name, "a text of <= " + LONGEST_TEXT + " characters", value.getNodeType());
    }
    return value.stringValue();
  }

  /// @throws WireFormatException if there is no such number, or if it is outside its range
  long number(String name, long least, long most) {
    JsonNode value = present(name);
    if (!value.isIntegralNumber() || !value.canConvertToLong() || value.longValue() < least
        || value.longValue() > most) {
      throw WireFormatException.request(name, "a number in [" + least + ", " + most + "]", value.getNodeType());
    }
    return value.longValue();
  }

  /// @throws WireFormatException if there is no key
  BlockKey key() {
    JsonNode value = present("key");
    byte[] bytes = value.isBinary() ? value.binaryValue() : null;
    return BlockKey.read(ByteBuffer.wrap(Fields.exactly("key", bytes, BlockKey.BYTES)));
  }

  /// A `Long`, a `String` or a list of [Plane]; null if there is no such value, or one of another type.
  @Nullable Object value(String name) {
    JsonNode value = values.path(name);
    if (value.isArray()) {
      return planes(value);
    } else if (value.isIntegralNumber() && value.canConvertToLong()) {
      return value.longValue();
    }
    return value.isString() && value.stringValue().length() <= LONGEST_TEXT ? value.stringValue() : null;
  }

  /// Null if a plane has another form than those known here.
  private static @Nullable List<Plane> planes(JsonNode array) {
    List<Plane> planes = new ArrayList<>();
    try {
      for (JsonNode plane : array) {
        planes.add(Fields.present("plane", CBOR.treeToValue(plane, Handshake.PlaneShape.class)).plane());
      }
    } catch (JacksonException | WireFormatException | IllegalArgumentException e) { // a newer node's kinds and types
      return null;
    }
    return List.copyOf(planes);
  }

  private JsonNode present(String name) {
    return Fields.present(name, values.get(name));
  }
}
