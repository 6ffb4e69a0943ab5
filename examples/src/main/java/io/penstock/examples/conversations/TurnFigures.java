package io.penstock.examples.conversations;

import java.util.List;

/// What the prompts of one turn needed, over all conversations.
///
/// @param turn from 1; 0 for the sum of all turns
/// @param promptTokens tokens of the whole conversations so far
/// @param promptBlocks full blocks of these tokens
/// @param reused blocks of the prompts that came from the node
/// @param computedBlocks the other blocks
/// @param computedTokens tokens that a prefill computes: those of the computed blocks, and those beyond the last full
///     block of each prompt
/// @param savedTokens the other tokens
record TurnFigures(int turn, long promptTokens, long promptBlocks, Reused reused, long computedBlocks,
    long computedTokens, long savedTokens) {
  static TurnFigures of(int turn, int promptTokens, int promptBlocks, Reused reused) {
    long saved = reused.blocks() * ConversationNode.BLOCK_TOKENS;
    return new TurnFigures(turn, promptTokens, promptBlocks, reused, promptBlocks - reused.blocks(),
        promptTokens - saved, saved);
  }

  /// The sum of figures of equal turns.
  TurnFigures plus(TurnFigures more) {
    return new TurnFigures(turn, promptTokens + more.promptTokens, promptBlocks + more.promptBlocks,
        reused.plus(more.reused), computedBlocks + more.computedBlocks, computedTokens + more.computedTokens,
        savedTokens + more.savedTokens);
  }

  static TurnFigures sum(List<TurnFigures> turns) {
    return turns.stream().reduce(new TurnFigures(0, 0, 0, Reused.NONE, 0, 0, 0), TurnFigures::plus);
  }

  double savedShare() {
    return (double) savedTokens / promptTokens;
  }
}
