package io.penstock.wire.protocol;

import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufInputStream;
import io.netty.buffer.ByteBufOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Collection;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.cfg.CoercionAction;
import tools.jackson.databind.cfg.CoercionInputShape;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.cfg.MapperBuilder;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.introspect.VisibilityChecker;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.type.LogicalType;
import tools.jackson.dataformat.cbor.CBORMapper;

/// Control messages as CBOR or JSON. Unknown fields are ignored, so that a newer peer may say more. A field of another
/// type is refused, whatever it could be converted to. Missing numbers are refused, but for those that may be null.
public enum ControlCodec {
  CBOR("application/cbor", strict(CBORMapper.builder(), ByteStrings.binary())),
  JSON("application/json", strict(JsonMapper.builder(), ByteStrings.base64()));

  private final String mimeType;
  private final ObjectMapper mapper;

  ControlCodec(String mimeType, ObjectMapper mapper) {
    this.mimeType = mimeType;
    this.mapper = mapper;
  }

  public String mimeType() {
    return mimeType;
  }

  /// @throws WireFormatException if the MIME type is neither CBOR nor JSON
  public static ControlCodec of(String mimeType) {
    for (ControlCodec codec : values()) {
      if (codec.mimeType.equals(mimeType)) {
        return codec;
      }
    }
    throw WireFormatException.request("data MIME type", "application/cbor or application/json", mimeType);
  }

  public ByteBuf encode(Object message, ByteBufAllocator allocator) {
    ByteBuf quick = this == CBOR ? QuickCbor.write(message, allocator) : null;
    if (quick != null) {
      return quick;
    }
    ByteBuf bytes = allocator.buffer();
    try (OutputStream out = new ByteBufOutputStream(bytes)) {
      mapper.writeValue(out, message);
      return bytes;
    } catch (IOException | JacksonException e) {
      bytes.release();
      throw new IllegalStateException("a control message of ours can be written", e);
    }
  }

  /// Reads a message; `bytes` stays the caller's.
  ///
  /// @throws WireFormatException that names the unreadable field
  public <T> T decode(ByteBuf bytes, Class<T> type) {
    T quick = this == CBOR ? QuickCbor.read(bytes, type) : null;
    if (quick != null) {
      return quick;
    }
    try (InputStream in = new ByteBufInputStream(bytes.duplicate())) {
      T message = mapper.readValue(in, type);
      if (message == null) {
        throw WireFormatException.request(type.getSimpleName(), "a message", "null");
      }
      return message;
    } catch (WireFormatException e) {
      throw e;
    } catch (IOException | RuntimeException e) { // a parser that stumbles over hostile bytes is no failure of ours
      if (e.getCause() instanceof WireFormatException rule) {
        throw rule;
      }
      throw e instanceof JacksonException unread && !unread.getPath().isEmpty()
          ? WireFormatException.request(field(unread), kind(unread), "absent, or of another type")
          : WireFormatException.request("message", "readable " + mimeType, "bytes that are not");
    }
  }

  /// The field of `error`, from the message down.
  private static String field(JacksonException error) {
    StringBuilder field = new StringBuilder();
    for (JacksonException.Reference step : error.getPath()) {
      if (step.getPropertyName() == null) {
        field.append('[').append(step.getIndex()).append(']');
      } else {
        field.append(field.isEmpty() ? "" : ".").append(step.getPropertyName());
      }
    }
    return field.toString();
  }

  /// Type that the field of `error` must have, in the words of the protocol.
  private static String kind(JacksonException error) {
    if (!(error instanceof MismatchedInputException mistyped)) {
      return "a number in its range";
    }
    Class<?> type = mistyped.getTargetType();
    if (type == null) {
      return "of the type that the protocol says";
    } else if (type == byte[].class) {
      return "bytes";
    } else if (type == String.class) {
      return "text";
    } else if (type == boolean.class) {
      return "true or false";
    } else if (Collection.class.isAssignableFrom(type)) {
      return "a list";
    }
    return type.isPrimitive() || Number.class.isAssignableFrom(type) ? "an integer" : "a map";
  }

  private static <B extends MapperBuilder<?, B>> ObjectMapper strict(B builder, ByteStrings bytes) {
    return strict(builder).addModule(new SimpleModule().addDeserializer(byte[].class, bytes)).build();
  }

  /// The fields of a message are the components of its record: a method that answers a question is none, and neither is
  /// a constructor another form.
  private static VisibilityChecker componentsAlone(VisibilityChecker found) {
    return found.withIsGetterVisibility(Visibility.NONE).withCreatorVisibility(Visibility.NONE)
        .withScalarConstructorVisibility(Visibility.NONE);
  }

  private static <B extends MapperBuilder<?, B>> B strict(B builder) {
    return builder
        .changeDefaultVisibility(ControlCodec::componentsAlone)
        .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
        .disable(EnumFeature.WRITE_ENUMS_USING_TO_STRING, EnumFeature.READ_ENUMS_USING_TO_STRING)
        .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
        .disable(SerializationFeature.FAIL_ON_EMPTY_BEANS)
        .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
        .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
        .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
        .withCoercionConfigDefaults(config -> config.setCoercion(CoercionInputShape.Float, CoercionAction.Fail))
        .withCoercionConfig(LogicalType.Textual, config -> config
            .setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
            .setCoercion(CoercionInputShape.Float, CoercionAction.Fail)
            .setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail));
  }
}
