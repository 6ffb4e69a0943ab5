package io.penstock.examples.disaggregated;

import io.penstock.examples.disaggregated.Ask.Aux;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What a node answers.
///
/// @param ports where its ranks listen; of a prefill node that has started
/// @param aux of a computed prompt
/// @param outcome of a decoded request
/// @param times of layers, in microseconds since the epoch
record Reply(List<Integer> ports, @Nullable Aux aux, @Nullable Outcome outcome, List<LayerTime> times) {
  static final Reply DONE = new Reply(List.of(), null, null, List.of());

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

  static Reply listening(List<Integer> ports) {
    return new Reply(ports, null, null, List.of());
  }

  static Reply of(Prefilled prefilled, List<LayerTime> times) {
    return new Reply(List.of(), Aux.of(prefilled), null, times);
  }

  static Reply of(Outcome outcome, List<LayerTime> times) {
    return new Reply(List.of(), null, outcome, times);
  }
}
