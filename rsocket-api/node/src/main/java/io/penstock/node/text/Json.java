package io.penstock.node.text;

import io.penstock.check.Checks;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.SerializableString;
import tools.jackson.core.io.CharacterEscapes;
import tools.jackson.core.io.SerializedString;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.json.JsonMapper;

/// JSON as every command writes and reads it: fields in the order in which a record declares them, enums by their names
/// in lower case, as options and texts spell them. A document with an unknown field is refused. What a terminal cannot
/// show as it is is written as its number.
public final class Json {
  public static final JsonMapper MAPPER =
      JsonMapper.builder(JsonFactory.builder().characterEscapes(new Unprintable()).build())
          .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
          .disable(EnumFeature.WRITE_ENUMS_USING_TO_STRING, EnumFeature.READ_ENUMS_USING_TO_STRING)
          .enable(EnumFeature.WRITE_ENUMS_TO_LOWERCASE)
          .enable(MapperFeature.ACCEPT_CASE_INSENSITIVE_ENUMS)
          .disable(JsonWriteFeature.ESCAPE_FORWARD_SLASHES)
          .enable(SerializationFeature.FAIL_ON_EMPTY_BEANS)
          .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .build();

  private Json() {}

  /// Numbers in place of characters beyond ASCII, and of DEL, that move a cursor or change the direction of text; JSON
  /// has numbers for the others anyway.
  private static final class Unprintable extends CharacterEscapes {
    private static final int DEL = 0x7F;

    @Override
    public int[] getEscapeCodesForAscii() {
      int[] codes = CharacterEscapes.standardAsciiEscapesForJSON();
      codes[DEL] = CharacterEscapes.ESCAPE_STANDARD;
      return codes;
    }

    @Override
    public @Nullable SerializableString getEscapeSequence(int unit) {
      return Character.isSurrogate((char) unit) || Checks.isPrintable(unit)
          ? null
          : new SerializedString("\\u%04X".formatted(unit));
    }
  }

  /// @throws IllegalArgumentException if `value` has no JSON form
  public static String of(Object value) {
    try {
      return MAPPER.writeValueAsString(value);
    } catch (JacksonException e) {
      throw new IllegalArgumentException("value must have a JSON form (was " + value.getClass().getName() + ")", e);
    }
  }
}
