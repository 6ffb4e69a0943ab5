package io.penstock.wire;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufInputStream;
import io.netty.buffer.ByteBufOutputStream;
import io.penstock.tier.TierStat;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.cfg.CoercionAction;
import tools.jackson.databind.cfg.CoercionInputShape;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.cfg.MapperBuilder;
import tools.jackson.databind.deser.std.StdConvertingDeserializer;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.util.StdConverter;
import tools.jackson.dataformat.cbor.CBORMapper;

/// Control messages as CBOR or JSON. Unknown fields are ignored, so that a newer peer may say more; missing numbers are
/// refused, but for those of a disk, of which an older node tells fewer: they are 0.
enum ControlCodec {
  CBOR("application/cbor", strict(CBORMapper.builder()).addModule(olderNodes()).build()),
  JSON("application/json", strict(JsonMapper.builder()).addModule(olderNodes()).build());

  private final String mimeType;
  private final ObjectMapper mapper;

  ControlCodec(String mimeType, ObjectMapper mapper) {
    this.mimeType = mimeType;
    this.mapper = mapper;
  }

  String mimeType() {
    return mimeType;
  }

  /// @throws WireFormatException if the MIME type is neither CBOR nor JSON
  static ControlCodec of(String mimeType) {
    for (ControlCodec codec : values()) {
      if (codec.mimeType.equals(mimeType)) {
        return codec;
      }
    }
    throw WireFormatException.request("data MIME type", "application/cbor or application/json", mimeType);
  }

  ByteBuf encode(Object message, ByteBufAllocator allocator) {
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
  /// @throws WireFormatException naming what cannot be read
  <T> T decode(ByteBuf bytes, Class<T> type) {
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
      throw WireFormatException.request(type.getSimpleName(), "readable " + mimeType, firstLine(e));
    }
  }

  private static String firstLine(Throwable e) {
    String message = String.valueOf(e.getMessage());
    int end = message.indexOf('\n');
    return end < 0 ? message : message.substring(0, end);
  }

  private static SimpleModule olderNodes() {
    ObjectMapper plain = strict(JsonMapper.builder()).build();
    return new SimpleModule().addDeserializer(TierStat.Disk.class,
        new StdConvertingDeserializer<>(new StdConverter<ObjectNode, TierStat.Disk>() {
          @Override
          public TierStat.Disk convert(ObjectNode told) {
            ObjectNode all = plain.valueToTree(TierStat.Disk.NONE);
            return plain.convertValue(all.setAll(told), TierStat.Disk.class);
          }
        }));
  }

  private static <B extends MapperBuilder<?, B>> B strict(B builder) {
    return builder
        .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
        .disable(EnumFeature.WRITE_ENUMS_USING_TO_STRING, EnumFeature.READ_ENUMS_USING_TO_STRING)
        .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
        .disable(SerializationFeature.FAIL_ON_EMPTY_BEANS)
        .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
        .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
        .withCoercionConfigDefaults(config -> config.setCoercion(CoercionInputShape.Float, CoercionAction.Fail));
  }
}
