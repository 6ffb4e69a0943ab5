package io.penstock.examples.tiers;

import io.penstock.examples.source.Reading;
import io.penstock.stack.shape.StackOptions;
import io.penstock.storage.EngineKind;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.TierStat;
import java.util.List;
import java.util.Map;

/// What a [TiersRun] saw.
///
/// @param blocks put and asked for
/// @param blockBytes bytes of each
/// @param first from the opening of the stack to its end
/// @param second the same folder, opened again
/// @param leakedBlocks blocks of host memory not given back after the end
record TiersReport(EngineKind engine, StackOptions.Mode mode, int blocks, int blockBytes, First first, Second second,
    long leakedBlocks) {
  /// @param found how many of the blocks the folder had before
  /// @param besides blocks of other runs that it had, too
  /// @param receipts for the blocks that were put, by what they promise
  /// @param fromDisk a read of the first window, which is on the disk alone
  /// @param again the same window, promoted
  /// @param others a read of all other blocks, the last first
  /// @param steps what the levels had after each step
  record First(long found, long besides, Map<Durability, Long> receipts, Reading fromDisk, Reading again,
      Reading others, List<Step> steps) {
    First {
      receipts = Map.copyOf(receipts);
      steps = List.copyOf(steps);
    }
  }

  /// @param recovered how many of the blocks the disk still had
  /// @param read all of those
  /// @param opened what the levels had then
  record Second(long recovered, Reading read, Step opened) {}

  /// @param did what was done
  /// @param levels figures afterwards, fastest first; hits are those since the stack was opened
  record Step(String did, List<TierStat.Level> levels) {
    Step {
      levels = List.copyOf(levels);
    }
  }

  /// Whether every block came whenever it was requested, with the right bytes.
  boolean isGood() {
    boolean complete = first.fromDisk.blocks() == Tiers.WINDOW_BLOCKS && first.again.blocks() == Tiers.WINDOW_BLOCKS
        && first.others.blocks() == blocks - Tiers.WINDOW_BLOCKS && second.read.blocks() == second.recovered;
    return complete && wrongSpans() == 0 && leakedBlocks == 0;
  }

  /// Blocks that rested in memory alone when the stack closed.
  long gone() {
    return blocks - second.recovered;
  }

  int wrongSpans() {
    return readings().stream().mapToInt(Reading::wrongSpans).sum();
  }

  int blocksRead() {
    return readings().stream().mapToInt(Reading::blocks).sum();
  }

  private List<Reading> readings() {
    return List.of(first.fromDisk, first.again, first.others, second.read);
  }
}
