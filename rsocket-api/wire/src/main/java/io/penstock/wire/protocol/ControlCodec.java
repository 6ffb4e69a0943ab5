package io.penstock.wire.protocol;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufInputStream;
import io.netty.buffer.ByteBufOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.dataformat.cbor.CBORFactory;

/// Control messages as CBOR or JSON. Unknown fields are ignored, so that a newer peer may say more. A field of another
/// type is refused, whatever it could be converted to. Missing numbers are refused, but for those that may be null.
public enum ControlCodec {
  CBOR("application/cbor", new CBORFactory()),
  JSON("application/json", new JsonFactory());

  private final String mimeType;
  private final TokenStreamFactory tokens;

  ControlCodec(String mimeType, TokenStreamFactory tokens) {
    this.mimeType = mimeType;
    this.tokens = tokens;
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

  /// @param message a record of this package
  public ByteBuf encode(Object message, ByteBufAllocator allocator) {
    ByteBuf quick = this == CBOR ? QuickCbor.write(message, allocator) : null;
    if (quick != null) {
      return quick;
    }
    ByteBuf bytes = allocator.buffer();
    try (OutputStream out = new ByteBufOutputStream(bytes);
        JsonGenerator generator = tokens.createGenerator(ObjectWriteContext.empty(), out)) {
      new MessageWriter(generator, false).write(message);
    } catch (IOException | RuntimeException e) {
      bytes.release();
      throw new IllegalStateException("a control message of ours can be written", e);
    } catch (Error e) {
      bytes.release();
      throw e;
    }
    return bytes;
  }

  /// Reads a message; `bytes` stays the caller's.
  ///
  /// @throws WireFormatException that names the unreadable field
  public <T> T decode(ByteBuf bytes, Class<T> type) {
    T quick = this == CBOR ? QuickCbor.read(bytes, type) : null;
    if (quick != null) {
      return quick;
    }
    String unread = "message";
    try (InputStream in = new ByteBufInputStream(bytes.duplicate());
        JsonParser parser = tokens.createParser(ObjectReadContext.empty(), in)) {
      MessageReader reader = new MessageReader(parser, this == CBOR);
      try {
        T message = reader.message(type);
        if (message != null) {
          return message;
        }
      } finally {
        unread = reader.field();
      }
    } catch (WireFormatException e) {
      throw e;
    } catch (IOException | RuntimeException e) { // a parser that stumbles over hostile bytes is no failure of ours
      throw unreadable(unread);
    }
    throw unreadable(unread);
  }

  private WireFormatException unreadable(String field) {
    return WireFormatException.request(field, "readable " + mimeType, "bytes that are not");
  }
}
