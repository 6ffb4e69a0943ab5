package io.penstock.block;

import static java.util.Objects.requireNonNull;

import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

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

  /// The keys of `space` with these hashes, in order. Immutable, 16 bytes a key.
  ///
  /// @param hashes whole hashes from its position on, which moves to its end
  public static List<BlockKey> list(SpaceId space, ByteBuffer hashes) {
    if (hashes.remaining() % BlockHash.BYTES != 0) {
      throw new IllegalArgumentException(
          "hashes must be a multiple of " + BlockHash.BYTES + " bytes (was " + hashes.remaining() + ")");
    }
    return new PackedKeys(space, hashes);
  }

  /// The keys of a request; a copy unless they cannot change.
  ///
  /// @throws IllegalArgumentException if a key is of another space than `space`, or comes twice
  public static List<BlockKey> distinct(List<BlockKey> keys, SpaceId space) {
    if (keys instanceof PackedKeys packed) {
      packed.requireDistinct(space);
      return keys;
    }
    List<BlockKey> asked = List.copyOf(keys);
    for (BlockKey key : asked) {
      key.requireOf(space);
    }
    if (asked.size() > 1) {
      new PackedKeys(space, asked).requireDistinct(space);
    }
    return asked;
  }

  /// Returns this key.
  ///
  /// @throws IllegalArgumentException if this key is of another space than `space`
  public BlockKey requireOf(SpaceId space) {
    if (!this.space.equals(space)) {
      throw notOf(space);
    }
    return this;
  }

  IllegalArgumentException notOf(SpaceId space) {
    return new IllegalArgumentException("key must be of space " + space + " (was " + this + ")");
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
  public boolean equals(@Nullable Object other) { // without method handles, as in SpaceId
    return other instanceof BlockKey same && hash.equals(same.hash) && space.equals(same.space);
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
