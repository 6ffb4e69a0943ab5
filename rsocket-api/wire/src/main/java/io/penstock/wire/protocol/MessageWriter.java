package io.penstock.wire.protocol;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/// Writes messages and the values that they are made of. It needs the streaming part of Jackson and no more: no
/// annotations and no data binding, whose versions a user's class path may mix.
final class MessageWriter {
  private final JsonGenerator out;
  private final boolean sized;

  /// @param sized whether CBOR states the length of each map before it: errors do, messages do not
  MessageWriter(JsonGenerator out, boolean sized) {
    this.out = out;
    this.sized = sized;
  }

  /// @param value a record of this package, a list or a map of values, an integer, a flag, a text, bytes, or null
  void write(@Nullable Object value) {
    switch (value) {
      case null -> out.writeNull();
      case Record message -> message(MessageForm.of(message.getClass()), message);
      case List<?> list -> {
        out.writeStartArray(list, list.size());
        list.forEach(this::write);
        out.writeEndArray();
      }
      case Map<?, ?> map -> {
        begin(map.size());
        map.forEach((name, each) -> {
          out.writeName((String) name);
          write(each);
        });
        out.writeEndObject();
      }
      case Integer number -> out.writeNumber(number);
      case Long number -> out.writeNumber(number);
      case Boolean flag -> out.writeBoolean(flag);
      case String text -> out.writeString(text);
      case byte[] bytes -> out.writeBinary(bytes);
      default -> throw new IllegalArgumentException(
          "value must be part of a message (was a " + value.getClass().getName() + ")");
    }
  }

  private void message(MessageForm form, Record message) {
    List<MessageForm.Field> fields = form.fields();
    Object[] values = fields.stream().map(field -> MessageForm.value(field, message)).toArray();
    int omitted = 0;
    for (int i = 0; i < values.length; i++) {
      omitted += values[i] == null && fields.get(i).omitsNull() ? 1 : 0;
    }
    begin(values.length - omitted);
    for (int i = 0; i < values.length; i++) {
      if (values[i] != null || !fields.get(i).omitsNull()) {
        out.writeName(fields.get(i).name());
        write(values[i]);
      }
    }
    out.writeEndObject();
  }

  private void begin(int fields) {
    if (sized) {
      out.writeStartObject(this, fields);
    } else {
      out.writeStartObject();
    }
  }
}
