package io.penstock.block;

import java.nio.ByteBuffer;
import java.util.HexFormat;

/// Content hash of a token prefix that ends with one block: 128 bits, big-endian where it is written down.
public record BlockHash(long high, long low) {
  /// Length in bytes.
  public static final int BYTES = 16;

  /// The parent of a first block: all zero.
  public static final BlockHash ROOT = new BlockHash(0, 0);

  /// Reads [#BYTES] bytes at the position of `from`, which moves on; big-endian whatever the order of the buffer.
  public static BlockHash read(ByteBuffer from) {
    return new BlockHash(BigEndian.getLong(from), BigEndian.getLong(from));
  }

  /// Writes [#BYTES] bytes, big-endian, at the position of `to`, which moves on.
  public void write(ByteBuffer to) {
    BigEndian.putLong(to, high);
    BigEndian.putLong(to, low);
  }

  /// 32 lower-case hex digits.
  public static BlockHash parse(String hex) {
    if (hex.length() != 2 * BYTES) {
      throw new IllegalArgumentException("hash must be " + 2 * BYTES + " hex digits (was " + hex.length() + ")");
    }
    return read(ByteBuffer.wrap(HexFormat.of().parseHex(hex)));
  }

  @Override
  public String toString() {
    return HexFormat.of().toHexDigits(high) + HexFormat.of().toHexDigits(low);
  }
}
