package io.penstock.examples.disaggregated.node;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// Question of the story to a node, a line of JSON for a process. No cache travels this way, and no data of its
/// transfer.
///
/// @param kind of the question
/// @param request id
/// @param prompt its tokens
/// @param prefill name of the prefill node that computes the prompt
/// @param earlier turn of the same conversation; null if this is the first
/// @param goesOn whether another turn follows, so that a decode keeps its blocks for the prefill of that turn
public record Ask(Kind kind, String request, List<Integer> prompt, String prefill, @Nullable EarlierTurn earlier,
    boolean goesOn) {
  /// A request of a single turn.
  public Ask(Kind kind, String request, List<Integer> prompt, String prefill) {
    this(kind, request, prompt, prefill, null, false);
  }

  public enum Kind {
    /// To a prefill: compute the prompt.
    PREFILL,
    /// To a decode: a request comes; take what is pushed.
    RECEIVE,
    /// To a decode: the prefill is done; generate.
    DECODE
  }

  int[] tokens() {
    return prompt.stream().mapToInt(Integer::intValue).toArray();
  }
}
