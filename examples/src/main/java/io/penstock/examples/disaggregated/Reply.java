package io.penstock.examples.disaggregated;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// What a node answers.
///
/// @param outcome of a decoded request
/// @param times of layers, in microseconds since the epoch
record Reply(@Nullable Outcome outcome, List<LayerTime> times) {
  static final Reply DONE = new Reply(null, List.of());

  /// @param tokens that were generated
  /// @param logits for each token the bits of what it was chosen from
  /// @param steps of the model after the prefill
  /// @param guessed by the draft head
  /// @param accepted guesses
  /// @param cachedTokens of the prompt that the decode had before
  /// @param movedBytes that came for this request
  record Outcome(List<Integer> tokens, List<List<Integer>> logits, int steps, int guessed, int accepted,
      int cachedTokens, long movedBytes) {
    static Outcome of(Generated generated, int cachedTokens, long movedBytes) {
      return new Outcome(generated.tokens(), generated.logits().stream().map(Bits::of).toList(), generated.steps(),
          generated.guessed(), generated.accepted(), cachedTokens, movedBytes);
    }
  }
}
