package io.penstock.wire.cluster.tier;

import io.penstock.block.BlockKey;
import io.penstock.tier.Presence;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;

/// Keys of a request that one member is asked for.
///
/// @param member number of the member in the answer of the directory
/// @param positions of the keys in the request, ascending
record KeyRun(int member, int[] positions) {
  static KeyRun of(int member, BitSet positions) {
    return new KeyRun(member, positions.stream().toArray());
  }

  /// The keys of this run.
  ///
  /// @param all keys of the request
  List<BlockKey> keys(List<BlockKey> all) {
    return isPrefix() ? all.subList(0, positions.length) : IntStream.of(positions).mapToObj(all::get).toList();
  }

  /// Whether positions in this run are those in the request.
  boolean isPrefix() {
    return positions.length == 0 || positions[positions.length - 1] == positions.length - 1;
  }

  /// The positions in the request that `part` has of this run.
  BitSet in(Presence part) {
    BitSet whole = new BitSet();
    part.bits().stream().forEach(i -> whole.set(positions[i]));
    return whole;
  }

  int last() {
    return positions[positions.length - 1];
  }
}
