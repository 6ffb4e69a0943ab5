package io.penstock.wire.protocol;

import java.util.Base64;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.deser.std.StdDeserializer;

/// Reads a byte string as the protocol has it, and nothing that could be taken for one: binary in CBOR, base64 in JSON.
final class ByteStrings extends StdDeserializer<byte[]> {
  private static final int QUANTUM = 4;

  private final boolean binary;

  private ByteStrings(boolean binary) {
    super(byte[].class);
    this.binary = binary;
  }

  static ByteStrings binary() {
    return new ByteStrings(true);
  }

  /// RFC 4648, section 4: the alphabet with `+` and `/`, padded with `=`.
  static ByteStrings base64() {
    return new ByteStrings(false);
  }

  @Override
  public byte[] deserialize(JsonParser parser, DeserializationContext context) {
    JsonToken token = parser.currentToken();
    if (binary && token == JsonToken.VALUE_EMBEDDED_OBJECT) {
      return parser.getBinaryValue();
    }
    if (!binary && token == JsonToken.VALUE_STRING && parser.getString().length() % QUANTUM == 0) {
      try {
        return Base64.getDecoder().decode(parser.getString());
      } catch (IllegalArgumentException e) {
        return context.reportInputMismatch(this, "not base64");
      }
    }
    return context.reportInputMismatch(this, "no byte string");
  }
}
