package io.penstock.lab.plan;

import io.penstock.check.Checks;
import java.util.List;

/// Selects the blocks of a request that a prefill engine offers: the blocks of the prompt first, then those of a window
/// of them. The order matters, for a window counts from the end of the prompt.
public final class ProducerBlocks {
  private ProducerBlocks() {}

  /// Drops the blocks behind the prompt, which speculation has filled.
  ///
  /// @param blocks ids as a scheduler sees them: each stands for one block on every context rank
  /// @param contextRanks `Parallelism.contextRanks()`
  public static List<Integer> ofPrompt(List<Integer> blocks, int promptTokens, int blockTokens, int contextRanks) {
    long covered = (long) Checks.positive("blockTokens", blockTokens) * Checks.positive("contextRanks", contextRanks);
    long needed = Math.ceilDiv(Checks.notNegative("promptTokens", promptTokens), covered);
    return List.copyOf(blocks.subList(0, (int) Math.min(blocks.size(), needed)));
  }

  /// Keeps the blocks of a sliding window, without the placeholder 0 that stands for blocks freed before.
  ///
  /// @param windowBlocks most blocks that a window touches
  public static List<Integer> ofWindow(List<Integer> blocks, int windowBlocks) {
    int from = Math.max(0, blocks.size() - Checks.positive("windowBlocks", windowBlocks));
    return blocks.subList(from, blocks.size()).stream().filter(block -> block != 0).toList();
  }
}
