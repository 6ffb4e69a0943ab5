package io.penstock.block;

import static java.util.Objects.requireNonNull;

import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;

/// The name of a block: its space and the content hash of its prefix.
///
/// The canonical encoding is 32 bytes, space then hash, each 16 bytes big-endian. Wire, disk and logs use this encoding
/// alone, and keys are ordered by it.
public record BlockKey(SpaceId space, BlockHash hash) implements Comparable<BlockKey> {
  /// Length of the canonical encoding in bytes.
  public static final int BYTES = SpaceId.BYTES + BlockHash.BYTES;

  public BlockKey {
    requireNonNull(space, "space");
    requireNonNull(hash, "hash");
  }

  /// A copy of the keys of a request.
  ///
  /// @throws IllegalArgumentException if a key is of another space than `space`, or comes twice
  public static List<BlockKey> distinct(List<BlockKey> keys, SpaceId space) {
    List<BlockKey> copy = List.copyOf(keys);
    for (BlockKey key : copy) {
      key.requireOf(space);
    }
    if (new HashSet<>(copy).size() < copy.size()) {
      throw new IllegalArgumentException("keys must be distinct (was " + copy.size() + " keys with duplicates)");
    }
    return copy;
  }

  /// This key.
  ///
  /// @throws IllegalArgumentException if this key is of another space than `space`
  public BlockKey requireOf(SpaceId space) {
    if (!this.space.equals(space)) {
      throw new IllegalArgumentException("key must be of space " + space + " (was " + this + ")");
    }
    return this;
  }

  /// Reads the canonical encoding at the position of `from`, which moves on.
  public static BlockKey read(ByteBuffer from) {
    return new BlockKey(SpaceId.read(from), BlockHash.read(from));
  }

  /// Writes the canonical encoding at the position of `to`, which moves on.
  public void write(ByteBuffer to) {
    space.write(to);
    hash.write(to);
  }

  /// `space:hash`, both in hex.
  public static BlockKey parse(String text) {
    int colon = text.indexOf(':');
    if (colon < 0) {
      throw new IllegalArgumentException("key must be SPACE:HASH in hex (was " + text + ")");
    }
    return new BlockKey(SpaceId.parse(text.substring(0, colon)), BlockHash.parse(text.substring(colon + 1)));
  }

  @Override
  public int hashCode() {
    return hash.hashCode() ^ Long.hashCode(space.low());
  }

  @Override
  public int compareTo(BlockKey other) {
    int order = Long.compareUnsigned(space.high(), other.space.high());
    order = order != 0 ? order : Long.compareUnsigned(space.low(), other.space.low());
    return order != 0 ? order : hash.compareTo(other.hash);
  }

  @Override
  public String toString() {
    return space + ":" + hash;
  }
}
