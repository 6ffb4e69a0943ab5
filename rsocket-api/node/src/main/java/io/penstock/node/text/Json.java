package io.penstock.node.text;

import tools.jackson.core.JacksonException;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.json.JsonMapper;

/// JSON as every command writes and reads it: fields in the order in which a record declares them, enums by their names
/// in lower case, as options and texts spell them. A document with an unknown field is refused.
public final class Json {
  public static final JsonMapper MAPPER = JsonMapper.builder()
      .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
      .disable(EnumFeature.WRITE_ENUMS_USING_TO_STRING, EnumFeature.READ_ENUMS_USING_TO_STRING)
      .enable(EnumFeature.WRITE_ENUMS_TO_LOWERCASE)
      .enable(MapperFeature.ACCEPT_CASE_INSENSITIVE_ENUMS)
      .disable(JsonWriteFeature.ESCAPE_FORWARD_SLASHES)
      .enable(SerializationFeature.FAIL_ON_EMPTY_BEANS)
      .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
      .build();

  private Json() {}

  /// @throws IllegalArgumentException if `value` has no JSON form
  public static String of(Object value) {
    try {
      return MAPPER.writeValueAsString(value);
    } catch (JacksonException e) {
      throw new IllegalArgumentException("value must have a JSON form (was " + value.getClass().getName() + ")", e);
    }
  }
}
