package io.penstock.lab.plan;

import io.penstock.check.Checks;
import java.util.ArrayList;
import java.util.List;

/// Blocks of a cache that every context rank keeps whole, such as that of an indexer, in addition to a cache that the
/// ranks split. One block id of a scheduler stands for `ranks` consecutive blocks of it.
///
/// @param source id on the prefill side
/// @param destination id on the decode side
public record ReplicatedBlocks(int source, int destination) {
  /// The blocks from `cachedBlocks` to the end of the prompt, as far as both sides have ids.
  ///
  /// @param source ids of the prefill side
  /// @param sourceRanks its context ranks
  /// @param destination ids of the decode side, those of the cached prefix included
  /// @param destinationRanks its context ranks
  public static List<ReplicatedBlocks> of(List<Integer> source, int sourceRanks, List<Integer> destination,
      int destinationRanks, int cachedBlocks, int promptBlocks) {
    Checks.positive("sourceRanks", sourceRanks);
    Checks.positive("destinationRanks", destinationRanks);
    List<ReplicatedBlocks> pairs = new ArrayList<>();
    long end = Math.min(promptBlocks,
        Math.min((long) source.size() * sourceRanks, (long) destination.size() * destinationRanks));
    for (int block = Checks.notNegative("cachedBlocks", cachedBlocks); block < end; block++) {
      pairs.add(new ReplicatedBlocks(id(source, sourceRanks, block), id(destination, destinationRanks, block)));
    }
    return List.copyOf(pairs);
  }

  private static int id(List<Integer> ids, int ranks, int block) {
    return Math.addExact(Math.multiplyExact(ids.get(block / ranks), ranks), block % ranks);
  }
}
