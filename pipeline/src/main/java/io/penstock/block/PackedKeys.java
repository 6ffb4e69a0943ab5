package io.penstock.block;

import static java.util.Objects.requireNonNull;

import java.nio.ByteBuffer;
import java.util.AbstractList;
import java.util.List;
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
      halves[i] = BlockHash.readHalf(hashes);
    }
  }

  /// @param keys all of `space`
  PackedKeys(SpaceId space, List<BlockKey> keys) {
    this.space = space;
    this.halves = new long[2 * keys.size()];
    int next = 0;
    for (BlockKey key : keys) {
      halves[next++] = key.hash().high();
      halves[next++] = key.hash().low();
    }
  }

  @Override
  public BlockKey get(int index) {
    Objects.checkIndex(index, size());
    return new BlockKey(space, new BlockHash(halves[2 * index], halves[2 * index + 1]));
  }

  /// @throws IllegalArgumentException if they are of another space than `wanted`, or one of them comes twice
  void requireDistinct(SpaceId wanted) {
    if (!isEmpty() && !space.equals(wanted)) {
      throw getFirst().notOf(wanted);
    }
    if (!distinct && !areDistinct()) {
      throw new IllegalArgumentException("keys must be distinct (was " + size() + " keys with duplicates)");
    }
    distinct = true;
  }

  /// Enters the keys into a table of their positions, half full at most, by their hashes.
  private boolean areDistinct() {
    int mask = Integer.highestOneBit(Math.max(1, size())) * 4 - 1;
    int[] positions = new int[mask + 1]; // from 1 on; 0 is free
    for (int i = 0; i < size(); i++) {
      int at = BlockHash.code(halves[2 * i], halves[2 * i + 1]) & mask;
      while (positions[at] > 0) {
        if (areEqual(positions[at] - 1, i)) {
          return false;
        }
        at = (at + 1) & mask;
      }
      positions[at] = i + 1;
    }
    return true;
  }

  private boolean areEqual(int one, int another) {
    return halves[2 * one] == halves[2 * another] && halves[2 * one + 1] == halves[2 * another + 1];
  }

  @Override
  public int size() {
    return halves.length / 2;
  }
}
