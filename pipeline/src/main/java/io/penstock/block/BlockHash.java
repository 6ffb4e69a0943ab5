package io.penstock.block;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.SecureRandom;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/// Content hash of a token prefix that ends with one block: 128 bits, big-endian where it is written down.
///
/// Clients choose hashes, so [#hashCode] depends on all bits and on a secret of this process: no client can choose
/// hashes that meet in a table. Hashes are ordered as unsigned numbers.
public record BlockHash(long high, long low) implements Comparable<BlockHash> {
  private static final long SECRET_HIGH;
  private static final long SECRET_LOW;

  static {
    SecureRandom random = new SecureRandom();
    SECRET_HIGH = random.nextLong();
    SECRET_LOW = random.nextLong();
  }

  /// Length in bytes.
  public static final int BYTES = 16;

  /// The parent of a first block: all zero.
  public static final BlockHash ROOT = new BlockHash(0, 0);

  /// Reads [#BYTES] bytes at the position of `from`, which moves on; big-endian whatever the order of the buffer.
  public static BlockHash read(ByteBuffer from) {
    return new BlockHash(readHalf(from), readHalf(from));
  }

  /// Writes [#BYTES] bytes, big-endian, at the position of `to`, which moves on.
  public void write(ByteBuffer to) {
    writeHalf(to, high);
    writeHalf(to, low);
  }

  /// Reads one half of a digest, big-endian. The buffer may have any order and keeps it.
  static long readHalf(ByteBuffer from) {
    long half = from.getLong();
    return from.order() == ByteOrder.BIG_ENDIAN ? half : Long.reverseBytes(half);
  }

  /// Writes one half of a digest, big-endian. The buffer may have any order and keeps it.
  static void writeHalf(ByteBuffer to, long half) {
    to.putLong(to.order() == ByteOrder.BIG_ENDIAN ? half : Long.reverseBytes(half));
  }

  /// 32 lower-case hex digits.
  public static BlockHash parse(String hex) {
    if (hex.length() != 2 * BYTES) {
      throw new IllegalArgumentException("hash must be " + 2 * BYTES + " hex digits (was " + hex.length() + ")");
    }
    return read(ByteBuffer.wrap(HexFormat.of().parseHex(hex)));
  }

  @Override
  public int compareTo(BlockHash other) {
    int order = Long.compareUnsigned(high, other.high);
    return order != 0 ? order : Long.compareUnsigned(low, other.low);
  }

  @Override
  public boolean equals(@Nullable Object other) { // without method handles, as in SpaceId
    return other instanceof BlockHash same && high == same.high && low == same.low;
  }

  @Override
  public int hashCode() {
    return code(high, low);
  }

  /// The hash code of the hash with these halves.
  static int code(long high, long low) {
    long once = product(high ^ SECRET_HIGH, low ^ SECRET_LOW);
    long twice = product(once ^ SECRET_LOW, high + SECRET_HIGH);
    return (int) (twice ^ (twice >>> 32));
  }

  /// Both halves of the product of two unsigned numbers.
  private static long product(long a, long b) {
    return (a * b) ^ Math.unsignedMultiplyHigh(a, b);
  }

  @Override
  public String toString() {
    return HexFormat.of().toHexDigits(high) + HexFormat.of().toHexDigits(low);
  }
}
