package io.penstock.lab.attack;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.SpaceId;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;

/// Knowledge of attackers about the node: its space, its capacity, and keys of blocks that it has.
///
/// @param capacityBlocks reported by the node; `Long.MAX_VALUE` if it reports none
/// @param known hashes of blocks that the node has, one after the other
record Target(byte[] space, BlockLayout layout, long capacityBlocks, byte[] known) {
  static Target of(CacheSpace space, long capacityBlocks, List<BlockKey> known) {
    ByteBuffer id = ByteBuffer.allocate(SpaceId.BYTES);
    space.id().write(id);
    ByteBuffer hashes = ByteBuffer.allocate(known.size() * BlockHash.BYTES);
    known.forEach(key -> key.hash().write(hashes));
    return new Target(id.array(), space.layout(), capacityBlocks, hashes.array());
  }

  /// Hashes of at most `most` blocks that the node has.
  byte[] known(int most) {
    return Arrays.copyOf(known, Math.min(known.length, most * BlockHash.BYTES));
  }

  /// So many times the capacity, at most `most`.
  int timesCapacity(int times, int most) {
    return capacityBlocks > most / times ? most : (int) Math.max(1, capacityBlocks * times);
  }

  /// Hashes that no node has.
  static byte[] unknown(int count, RandomGenerator random) {
    byte[] hashes = new byte[count * BlockHash.BYTES];
    random.nextBytes(hashes);
    return hashes;
  }

  /// Hashes that no node has, and that differ in their first four bytes only.
  static byte[] colliding(int count, RandomGenerator random) {
    byte[] tail = new byte[BlockHash.BYTES - Integer.BYTES];
    random.nextBytes(tail);
    ByteBuffer hashes = ByteBuffer.allocate(count * BlockHash.BYTES);
    for (int i = 0; i < count; i++) {
      hashes.putInt(i).put(tail);
    }
    return hashes.array();
  }
}
