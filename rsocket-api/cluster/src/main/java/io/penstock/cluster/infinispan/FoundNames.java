package io.penstock.cluster.infinispan;

import io.penstock.cluster.directory.BlockName;
import io.penstock.cluster.directory.Holders;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/// Names that owners found, with their holders: a table of at least twice their number with open addressing, without an
/// object for each. Names are as even as random ones, so their bits are their place. Not thread-safe.
final class FoundNames {
  private static final VarHandle WORD = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private final long[] words;
  private final byte[][] holders;
  private final int mask;

  /// @param most names that can be put
  FoundNames(int most) {
    int slots = Integer.highestOneBit(Math.max(1, most)) << 2;
    this.mask = slots - 1;
    this.words = new long[2 * slots];
    this.holders = new byte[slots][];
  }

  /// @param name in bytes, see [BlockName#bytes()]
  void put(byte[] name, byte[] of) {
    long high = (long) WORD.get(name, 0);
    long low = (long) WORD.get(name, Long.BYTES);
    int slot = slot(high, low);
    words[2 * slot] = high;
    words[2 * slot + 1] = low;
    holders[slot] = of;
  }

  /// The slot of a name, or the free one where it goes.
  private int slot(long high, long low) {
    int slot = (int) low & mask;
    while (holders[slot] != null && (words[2 * slot] != high || words[2 * slot + 1] != low)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  /// Holders of each of `names`; none for those that were not put.
  List<byte[]> inOrder(List<BlockName> names) {
    List<byte[]> all = new ArrayList<>(names.size());
    for (BlockName name : names) {
      byte[] found = holders[slot(name.high(), name.low())];
      all.add(found == null ? Holders.NONE : found);
    }
    return all;
  }
}
