package io.penstock.block;

import static java.util.Objects.requireNonNull;

import java.nio.ByteBuffer;
import java.util.AbstractList;
import java.util.Objects;
import java.util.RandomAccess;

/// Keys of one space, in 16 bytes each: a key is made when it is read. So a request of many keys costs the heap little
/// while it runs. They do not change.
final class PackedKeys extends AbstractList<BlockKey> implements RandomAccess {
  private final SpaceId space;
  /// Both halves of each hash.
  private final long[] halves;
  /// Whether they were compared, and differ: several owners of a request ask for that.
  private volatile boolean distinct;

  /// @param hashes whole hashes from its position on, which moves to its end
  PackedKeys(SpaceId space, ByteBuffer hashes) {
    this.space = requireNonNull(space, "space");
    this.halves = new long[hashes.remaining() / BlockHash.BYTES * 2];
    for (int i = 0; i < halves.length; i++) {
      halves[i] = BigEndian.getLong(hashes);
    }
  }

  @Override
  public BlockKey get(int index) {
    Objects.checkIndex(index, size());
    return new BlockKey(space, new BlockHash(halves[2 * index], halves[2 * index + 1]));
  }

  /// Whether they are of `space`, and known to be distinct.
  boolean areDistinctIn(SpaceId space) {
    return distinct && this.space.equals(space);
  }

  void foundDistinct() {
    distinct = true;
  }

  @Override
  public int size() {
    return halves.length / 2;
  }
}
