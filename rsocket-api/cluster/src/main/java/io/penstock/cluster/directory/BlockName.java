package io.penstock.cluster.directory;

import java.nio.ByteBuffer;

/// The name under which a [SharedMap] keeps the holders of a block: 128 bits that [BlockNames] derives from a key, as
/// even as random ones.
public record BlockName(long high, long low) {
  /// Parts that a [SharedMap] is spread in: a member has some of them, so they bound how evenly it is spread.
  public static final int SEGMENTS = 256;
  /// Length of [#bytes()].
  public static final int BYTES = 16;

  /// Reads [#BYTES] bytes, big-endian.
  public static BlockName of(byte[] bytes) {
    ByteBuffer from = ByteBuffer.wrap(bytes);
    return new BlockName(from.getLong(), from.getLong());
  }

  /// This name, big-endian.
  public byte[] bytes() {
    return ByteBuffer.allocate(BYTES).putLong(high).putLong(low).array();
  }

  /// The part of the map, of [#SEGMENTS], that keeps the name. Every member computes the same.
  public int segment() {
    return (int) Math.unsignedMultiplyHigh(high, SEGMENTS);
  }

  @Override
  public int hashCode() {
    return (int) low;
  }
}
