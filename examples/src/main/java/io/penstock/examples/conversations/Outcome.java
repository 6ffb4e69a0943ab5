package io.penstock.examples.conversations;

import java.util.List;

/// What the conversations got from one node.
///
/// @param ssd whether it had a disk
/// @param turns figures of each turn, over all conversations
/// @param all the sum of these
/// @param savedSeconds time that a prefill of the saved tokens takes, at the assumed speed
/// @param evictedBlocks blocks that the node evicted
/// @param deviations hits that promoted no block, and blocks evicted for room: with any, another run may decide
///     otherwise
/// @param wrongSpans parts of slices with other bytes than were put
/// @param missingBlocks blocks that a decision promised and that did not come
/// @param leaked slots and bytes not given back after the end
/// @param loadSeconds measured: loading the reused blocks over loopback TCP, and comparing them
/// @param decisions how much of each prompt was fetched, and why; empty if all of it always is
record Outcome(boolean ssd, List<TurnFigures> turns, TurnFigures all, double savedSeconds, long evictedBlocks,
    long deviations, long wrongSpans, long missingBlocks, long leaked, double loadSeconds,
    List<Decision> decisions) {
  Outcome {
    turns = List.copyOf(turns);
    decisions = List.copyOf(decisions);
  }

  boolean isGood() {
    return wrongSpans == 0 && missingBlocks == 0 && leaked == 0;
  }

  String name() {
    return ssd ? "with SSD" : "without SSD";
  }
}
