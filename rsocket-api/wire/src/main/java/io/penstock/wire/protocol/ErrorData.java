package io.penstock.wire.protocol;

import io.netty.buffer.Unpooled;
import io.penstock.block.BlockKey;
import io.penstock.block.Plane;
import java.io.ByteArrayOutputStream;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.dataformat.cbor.CBORFactory;

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
  private static final CBORFactory CBOR = CBORFactory.builder().streamReadConstraints(
      StreamReadConstraints.builder().maxNestingDepth(3).maxDocumentLength(LONGEST_WRITTEN)
          .maxStringLength(LONGEST_WRITTEN).maxNameLength(LONGEST_TEXT).maxNumberLength(20).build())
      .build();

  private static final JsonFactory JSON = new JsonFactory();

  /// Values as [MessageWriter] has them.
  private final Map<String, @Nullable Object> values;

  private ErrorData(Map<String, @Nullable Object> values) {
    this.values = values;
  }

  static ErrorData none() {
    return new ErrorData(new LinkedHashMap<>());
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
      case List<?> list when isPlanes(list) ->
        values.put(name, list.stream().map(plane -> Handshake.PlaneShape.of((Plane) plane)).toList());
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
    return Base64.getEncoder().encodeToString(bytes(values));
  }

  private static byte[] bytes(Object value) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (JsonGenerator out = CBOR.createGenerator(ObjectWriteContext.empty(), bytes)) {
      new MessageWriter(out, true).write(value);
    }
    return bytes.toByteArray();
  }

  /// The map as JSON text, with byte strings in base64.
  String json() {
    StringWriter text = new StringWriter();
    try (JsonGenerator out = JSON.createGenerator(ObjectWriteContext.empty(), text)) {
      new MessageWriter(out, false).write(values);
    }
    return text.toString();
  }

  /// Reads what [#written()] wrote; null if it is nothing of the kind: then the sentence is all there is.
  static @Nullable ErrorData read(String written) {
    if (written.length() > LONGEST_WRITTEN) {
      return null;
    }
    try (JsonParser in = CBOR.createParser(ObjectReadContext.empty(), whole(Base64.getDecoder().decode(written)))) {
      return in.nextToken() == JsonToken.START_OBJECT && value(in) instanceof Map<?, ?> map && in.nextToken() == null
          ? new ErrorData(named(map))
          : null;
    } catch (RuntimeException e) { // no base64, no CBOR, a map beyond its bounds, or bytes on which the parser stumbles
      return null;
    }
  }

  private static byte[] whole(byte[] map) {
    CborStructure.require(map, LONGEST_WRITTEN);
    return map;
  }

  private static Map<String, @Nullable Object> named(Map<?, ?> map) {
    Map<String, @Nullable Object> values = new LinkedHashMap<>();
    map.forEach((name, value) -> values.put((String) name, value));
    return values;
  }

  /// The value at the current token; a number that is no `Long` comes as null.
  private static @Nullable Object value(JsonParser in) {
    return switch (in.currentToken()) {
      case START_OBJECT -> {
        Map<String, @Nullable Object> map = new LinkedHashMap<>();
        for (String name = in.nextName(); name != null; name = in.nextName()) {
          in.nextToken();
          map.put(name, value(in));
        }
        yield map;
      }
      case START_ARRAY -> {
        List<@Nullable Object> list = new ArrayList<>();
        while (in.nextToken() != JsonToken.END_ARRAY) {
          list.add(value(in));
        }
        yield list;
      }
      case VALUE_STRING -> in.getString();
      case VALUE_EMBEDDED_OBJECT -> in.getBinaryValue();
      case VALUE_NUMBER_INT -> in.getNumberType() == JsonParser.NumberType.BIG_INTEGER ? null : in.getLongValue();
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case null -> throw new IllegalArgumentException("a map or list must have an end (had none)");
      default -> null;
    };
  }

  /// @throws WireFormatException if there is no such text
  String text(String name) {
    Object value = present(name);
    if (!(value instanceof String text) || text.length() > LONGEST_TEXT) {
      throw WireFormatException.request(name, "a text of <= " + LONGEST_TEXT + " characters", kind(value));
    }
    return text;
  }

  /// @throws WireFormatException if there is no such number, or if it is outside its range
  long number(String name, long least, long most) {
    Object value = present(name);
    if (!(value instanceof Long number) || number < least || number > most) {
      throw WireFormatException.request(name, "a number in [" + least + ", " + most + "]", kind(value));
    }
    return number;
  }

  /// @throws WireFormatException if there is no key
  BlockKey key() {
    byte[] bytes = present("key") instanceof byte[] key ? key : null;
    return BlockKey.read(ByteBuffer.wrap(Fields.exactly("key", bytes, BlockKey.BYTES)));
  }

  /// A `Long`, a `String` or a list of [Plane]; null if there is no such value, or one of another type.
  @Nullable Object value(String name) {
    return switch (values.get(name)) {
      case List<?> list -> planes(list);
      case Long number -> number;
      case String text when text.length() <= LONGEST_TEXT -> text;
      case null, default -> null;
    };
  }

  /// Null if a plane has another form than those known here.
  private static @Nullable List<Plane> planes(List<?> list) {
    List<Plane> planes = new ArrayList<>();
    try {
      for (Object plane : list) {
        planes.add(shape(Fields.present("plane", plane)).plane());
      }
    } catch (WireFormatException | IllegalArgumentException | JacksonException e) { // a newer node's kinds and types
      return null;
    }
    return List.copyOf(planes);
  }

  private static Handshake.PlaneShape shape(Object plane) {
    return ControlCodec.CBOR.decode(Unpooled.wrappedBuffer(bytes(plane)), Handshake.PlaneShape.class);
  }

  private static String kind(Object value) {
    return value.getClass().getSimpleName();
  }

  private Object present(String name) {
    return Fields.present(name, values.get(name));
  }
}
