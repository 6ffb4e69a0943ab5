package io.penstock.examples.jlama;

import java.util.List;

/// Result of a [TurnsRun].
///
/// @param settings of the run
/// @param turns one entry for each turn
/// @param blockBytes bytes of a block
/// @param loadBytesPerSecond rate of a load into the engine's rows
/// @param wireBytesPerSecond rate at which the same slices arrive, verified, without rows
record TurnsReport(String model, TurnsRun.Settings settings, List<TurnFigures> turns, long blockBytes,
    double loadBytesPerSecond, double wireBytesPerSecond) {
  TurnsReport {
    turns = List.copyOf(turns);
  }

  /// Whether all answers were equal, and only new tokens were computed: to the block, since the tokens behind the last
  /// whole block are not kept.
  boolean isGood() {
    long slack = (long) JlamaEngine.BLOCK_TOKENS * settings.conversations();
    return turns.stream().allMatch(turn -> turn.unlikeAnswers() == 0 && turn.computed() <= turn.newTokens() + slack);
  }

  int unlikeAnswers() {
    return turns.stream().mapToInt(TurnFigures::unlikeAnswers).sum();
  }

  int unlikeLogits() {
    return turns.stream().mapToInt(TurnFigures::unlikeLogits).sum();
  }

  TurnFigures last() {
    return turns.getLast();
  }

  double loadShare() {
    return loadBytesPerSecond / wireBytesPerSecond;
  }
}
