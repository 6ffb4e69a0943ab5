package io.penstock.block;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/// Big-endian access that does not care about, or change, the order a caller set on its buffer.
final class BigEndian {
  private BigEndian() {}

  static long getLong(ByteBuffer from) {
    long value = from.getLong();
    return from.order() == ByteOrder.BIG_ENDIAN ? value : Long.reverseBytes(value);
  }

  static void putLong(ByteBuffer to, long value) {
    to.putLong(to.order() == ByteOrder.BIG_ENDIAN ? value : Long.reverseBytes(value));
  }
}
