package io.penstock.examples.openai;

import io.netty.buffer.ByteBuf;
import java.io.ByteArrayOutputStream;

/// The body of a request, of bounded length.
final class BoundedBody {
  private final int maxBytes;
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  BoundedBody(int maxBytes) {
    this.maxBytes = maxBytes;
  }

  /// @return whether there was room for `part`
  boolean add(ByteBuf part) {
    if (bytes.size() + part.readableBytes() > maxBytes) {
      return false;
    }
    byte[] copy = new byte[part.readableBytes()];
    part.getBytes(part.readerIndex(), copy);
    bytes.writeBytes(copy);
    return true;
  }

  byte[] bytes() {
    return bytes.toByteArray();
  }
}
