package io.penstock.wire.protocol;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/// Reads one message, as the protocol has it: nothing is converted, unknown fields are skipped, and what is wrong is
/// named by its field. It needs the streaming part of Jackson and no more.
final class MessageReader {
  private static final int QUANTUM = 4;

  private final JsonParser in;
  private final boolean binary;
  /// The field that is being read, from the message down.
  private final StringBuilder path = new StringBuilder();

  /// @param binary whether byte strings are binary; else they are base64, as RFC 4648, section 4, has it: the alphabet
  ///     with `+` and `/`, padded with `=`
  MessageReader(JsonParser in, boolean binary) {
    this.in = in;
    this.binary = binary;
  }

  /// Reads a message and the end of the input.
  ///
  /// @return null if there is no message, or something behind it
  /// @throws WireFormatException that names the field that is wrong
  <T> @Nullable T message(Class<T> type) {
    if (in.nextToken() != JsonToken.START_OBJECT) {
      return null;
    }
    T message = type.cast(message(MessageForm.of(type)));
    return in.nextToken() == null ? message : null;
  }

  /// The field that is being read, or that was wrong; `message` for the whole.
  String field() {
    return path.isEmpty() ? "message" : path.toString();
  }

  private Object message(MessageForm form) {
    @Nullable Object[] values = new @Nullable Object[form.fields().size()];
    for (String name = in.nextName(); name != null; name = in.nextName()) {
      Integer position = form.positions().get(name);
      in.nextToken();
      if (position == null) {
        in.skipChildren();
      } else {
        values[position] = field(form.fields().get(position));
      }
    }
    if (in.currentToken() != JsonToken.END_OBJECT) { // a name that is no text
      throw mistyped("a map");
    }
    for (int i = 0; i < values.length; i++) {
      MessageForm.Field field = form.fields().get(i);
      if (values[i] == null && isPrimitive(field.type())) {
        enter(field.name());
        throw mistyped(kind(field.type()));
      }
    }
    return form.message(values);
  }

  private @Nullable Object field(MessageForm.Field field) {
    int above = enter(field.name());
    Object value = value(field.type());
    path.setLength(above);
    return value;
  }

  /// @return length of the path before
  private int enter(String name) {
    int above = path.length();
    path.append(above == 0 ? "" : ".").append(name);
    return above;
  }

  /// Reads the value at the current token; null for an absent one.
  private @Nullable Object value(Type type) {
    if (in.currentToken() == JsonToken.VALUE_NULL) {
      return null;
    } else if (type == int.class || type == Integer.class) {
      return (int) integer(Integer.MIN_VALUE, Integer.MAX_VALUE);
    } else if (type == long.class || type == Long.class) {
      return integer(Long.MIN_VALUE, Long.MAX_VALUE);
    } else if (type == boolean.class || type == Boolean.class) {
      return flag();
    } else if (type == String.class) {
      return text(type);
    } else if (type == byte[].class) {
      return bytes();
    } else if (type instanceof ParameterizedType of) {
      return of.getRawType() == List.class ? list(of) : map(of);
    }
    require(JsonToken.START_OBJECT, type);
    return message(MessageForm.of((Class<?>) type));
  }

  private long integer(long least, long most) {
    require(JsonToken.VALUE_NUMBER_INT, long.class);
    long value = in.getNumberType() == JsonParser.NumberType.BIG_INTEGER ? 0 : in.getLongValue();
    if (in.getNumberType() == JsonParser.NumberType.BIG_INTEGER || value < least || value > most) {
      throw mistyped("a number in its range");
    }
    return value;
  }

  private boolean flag() {
    boolean yes = in.currentToken() == JsonToken.VALUE_TRUE;
    if (!yes) {
      require(JsonToken.VALUE_FALSE, boolean.class);
    }
    return yes;
  }

  private String text(Type type) {
    require(JsonToken.VALUE_STRING, type);
    return in.getString();
  }

  private byte[] bytes() {
    if (binary) {
      require(JsonToken.VALUE_EMBEDDED_OBJECT, byte[].class);
      return in.getBinaryValue();
    }
    String text = text(byte[].class);
    try {
      if (text.length() % QUANTUM == 0) {
        return Base64.getDecoder().decode(text);
      }
    } catch (IllegalArgumentException e) { // not base64
      throw mistyped(kind(byte[].class));
    }
    throw mistyped(kind(byte[].class));
  }

  private List<@Nullable Object> list(ParameterizedType type) {
    require(JsonToken.START_ARRAY, type);
    Type of = type.getActualTypeArguments()[0];
    List<@Nullable Object> values = new ArrayList<>();
    while (in.nextToken() != JsonToken.END_ARRAY) {
      int above = path.length();
      path.append('[').append(values.size()).append(']');
      values.add(value(of));
      path.setLength(above);
    }
    return values;
  }

  private Map<String, @Nullable Object> map(ParameterizedType type) {
    require(JsonToken.START_OBJECT, type);
    Type of = type.getActualTypeArguments()[1];
    Map<String, @Nullable Object> values = new LinkedHashMap<>();
    for (String name = in.nextName(); name != null; name = in.nextName()) {
      in.nextToken();
      int above = enter(name);
      values.put(name, value(of));
      path.setLength(above);
    }
    return values;
  }

  private void require(JsonToken token, Type type) {
    if (in.currentToken() != token) {
      throw mistyped(kind(type));
    }
  }

  private WireFormatException mistyped(String wanted) {
    return WireFormatException.request(field(), wanted, "absent, or of another type");
  }

  private static boolean isPrimitive(Type type) {
    return type instanceof Class<?> plain && plain.isPrimitive();
  }

  /// Type that a field must have, in the words of the protocol.
  private static String kind(Type type) {
    if (type == byte[].class) {
      return "bytes";
    } else if (type == String.class) {
      return "text";
    } else if (type == boolean.class || type == Boolean.class) {
      return "true or false";
    } else if (type instanceof ParameterizedType of) {
      return of.getRawType() == List.class ? "a list" : "a map";
    }
    return isPrimitive(type) || type == Integer.class || type == Long.class ? "an integer" : "a map";
  }
}
