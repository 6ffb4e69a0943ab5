package io.penstock.examples.disaggregated;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// What the story asks of a node, a line of JSON for a process. It is the control plane: no cache goes this way.
///
/// @param kind of the question
/// @param request id
/// @param prompt its tokens
/// @param ports of the prefill node, one a rank; for a decode
/// @param aux what the prefill answered; for a decode
record Ask(Kind kind, String request, List<Integer> prompt, List<Integer> ports, @Nullable Aux aux) {
  enum Kind {
    /// To a prefill: compute the prompt.
    PREFILL,
    /// To a prefill: the decode has the cache.
    RELEASE,
    /// To a decode: a request comes; take what is pushed.
    RECEIVE,
    /// To a decode: the prefill is done; generate.
    DECODE
  }

  /// What travels beside the cache.
  ///
  /// @param hidden bits of the vector of the prompt's last token
  /// @param logits bits of the logits of the first new token
  record Aux(List<Integer> hidden, List<Integer> logits) {
    static Aux of(Prefilled prefilled) {
      return new Aux(Bits.of(prefilled.hidden()), Bits.of(prefilled.logits()));
    }

    Prefilled prefilled() {
      return new Prefilled(Bits.floats(hidden), Bits.floats(logits));
    }
  }

  int[] tokens() {
    return prompt.stream().mapToInt(Integer::intValue).toArray();
  }
}
