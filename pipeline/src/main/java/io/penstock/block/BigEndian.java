package io.penstock.block;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/// Big-endian access, whatever the order of the buffer, which stays as the caller set it.
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
