package io.penstock.examples.disaggregated.node;

import io.penstock.examples.disaggregated.rank.Generated;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Answer of a node.
///
/// @param outcome of a decoded request
/// @param times of layers, in microseconds since the epoch
/// @param rankBytes of the weights that each rank of the node has; empty if it computed nothing
/// @param prefix what a prefill did not compute; null from a decode
/// @param failure reason why the node could not do its work; null if it did
public record Reply(@Nullable Outcome outcome, List<LayerTime> times, List<Long> rankBytes, @Nullable Prefix prefix,
    @Nullable Failure failure) {
  public static final Reply DONE = new Reply(null, List.of(), List.of());

  Reply(@Nullable Outcome outcome, List<LayerTime> times, List<Long> rankBytes) {
    this(outcome, times, rankBytes, null, null);
  }

  /// @param type simple name of the exception
  record Failure(String request, String type, String message) {
    static Failure of(String request, RuntimeException error) {
      return new Failure(request, error.getClass().getSimpleName(), String.valueOf(error.getMessage()));
    }
  }

  static Reply failed(Failure failure) {
    return new Reply(null, List.of(), List.of(), null, failure);
  }

  /// This reply, if the node did its work.
  ///
  /// @throws RequestFailedException if it did not
  Reply requireDone() {
    if (failure != null) {
      throw new RequestFailedException(failure);
    }
    return this;
  }

  /// @param cachedTokens that the prefill had from earlier requests
  /// @param pulledTokens behind these that came from the decode of the turn before
  public record Prefix(int cachedTokens, int pulledTokens) {}

  /// @param tokens that were generated
  /// @param logits for each token the bits of what it was chosen from
  /// @param steps of the model after the prefill
  /// @param guessed by the draft head
  /// @param accepted guesses
  /// @param cachedTokens of the prompt that the decode had before
  /// @param tokenBytes of the tokens that the plan moved
  /// @param movedBytes that came for this request, in whole blocks
  /// @param keptTokens of prompt and answer that the decode has in whole blocks
  public record Outcome(List<Integer> tokens, List<List<Integer>> logits, int steps, int guessed, int accepted,
      int cachedTokens, long tokenBytes, long movedBytes, int keptTokens) {
    static Outcome of(Generated generated, int cachedTokens, long tokenBytes, long movedBytes, int keptTokens) {
      return new Outcome(generated.tokens(), generated.logits().stream().map(Bits::of).toList(), generated.steps(),
          generated.guessed(), generated.accepted(), cachedTokens, tokenBytes, movedBytes, keptTokens);
    }
  }
}
