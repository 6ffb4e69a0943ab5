package io.penstock.wire.protocol;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufOutputStream;
import io.netty.buffer.ByteBufUtil;
import java.io.IOException;
import java.io.OutputStream;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.TSFBuilder;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.TokenStreamFactory.Feature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.dataformat.cbor.CBORFactory;

/// Control messages as CBOR or JSON. Unknown fields are ignored, so that a newer peer may say more. A field of another
/// type is refused, whatever it could be converted to. Missing numbers are refused, but for those that may be null.
///
/// Reading takes time linear in the bytes of a message: the structure of CBOR is checked first, and no table of names
/// outlives a message, which hostile names could fill.
public enum ControlCodec {
  CBOR("application/cbor", CBORFactory.builder()),
  JSON("application/json", JsonFactory.builder());

  /// Maximum number of items of a request: names, values, lists and maps. Keys count as one, packed as they are; the
  /// description of a model with a thousand layers takes a quarter.
  static final int REQUEST_ITEMS = 4096;

  private final String mimeType;
  private final TokenStreamFactory requests;
  private final TokenStreamFactory answers;

  ControlCodec(String mimeType, TSFBuilder<?, ?> tokens) {
    this.mimeType = mimeType;
    tokens.disable(Feature.CANONICALIZE_PROPERTY_NAMES);
    StreamReadConstraints.Builder bounds = StreamReadConstraints.builder().maxNestingDepth(CborStructure.DEEPEST);
    this.answers = tokens.streamReadConstraints(bounds.build()).build();
    this.requests = tokens.streamReadConstraints(bounds.maxTokenCount(REQUEST_ITEMS).build()).build();
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
        JsonGenerator generator = answers.createGenerator(ObjectWriteContext.empty(), out)) {
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
    return decode(bytes, type, answers, Integer.MAX_VALUE);
  }

  /// Reads a request, whose sender may be a stranger; `bytes` stays the caller's.
  ///
  /// @throws WireFormatException that names the unreadable field, also for more than [#REQUEST_ITEMS] items
  public <T> T decodeRequest(ByteBuf bytes, Class<T> type) {
    return decode(bytes, type, requests, REQUEST_ITEMS);
  }

  private <T> T decode(ByteBuf bytes, Class<T> type, TokenStreamFactory tokens, int mostItems) {
    T quick = this == CBOR ? QuickCbor.read(bytes, type) : null;
    if (quick != null) {
      return quick;
    }
    byte[] in = ByteBufUtil.getBytes(bytes);
    if (this == CBOR) {
      CborStructure.require(in, mostItems);
    }
    String unread = "message";
    try (JsonParser parser = tokens.createParser(ObjectReadContext.empty(), in)) {
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
    } catch (RuntimeException e) { // a parser that stumbles over hostile bytes is no failure of ours
      throw unreadable(unread);
    }
    throw unreadable(unread);
  }

  private WireFormatException unreadable(String field) {
    return WireFormatException.request(field, "readable " + mimeType, "bytes that are not");
  }
}
