package io.penstock.block;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/// The 128-bit digest of a [CacheSpace]: the first half of every key.
public record SpaceId(long high, long low) {
  /// Length in bytes.
  public static final int BYTES = 16;

  /// Reads 16 bytes, big-endian, at the position of `from`, which moves on.
  public static SpaceId read(ByteBuffer from) {
    return new SpaceId(BlockHash.readHalf(from), BlockHash.readHalf(from));
  }

  /// Writes 16 bytes, big-endian, at the position of `to`, which moves on.
  public void write(ByteBuffer to) {
    BlockHash.writeHalf(to, high);
    BlockHash.writeHalf(to, low);
  }

  /// 32 lower-case hex digits.
  public static SpaceId parse(String hex) {
    if (hex.length() != 2 * BYTES) {
      throw new IllegalArgumentException("space must be " + 2 * BYTES + " hex digits (was " + hex.length() + ")");
    }
    return read(ByteBuffer.wrap(HexFormat.of().parseHex(hex)));
  }

  /// Compares what a record compares, but in plain code: each request and each slice compares its space, and the method
  /// handles of a record are slow until they are compiled.
  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof SpaceId same && high == same.high && low == same.low;
  }

  @Override
  public int hashCode() {
    return 31 * Long.hashCode(high) + Long.hashCode(low);
  }

  @Override
  public String toString() {
    return HexFormat.of().toHexDigits(high) + HexFormat.of().toHexDigits(low);
  }
}
