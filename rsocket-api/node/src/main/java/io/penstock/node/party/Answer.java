package io.penstock.node.party;

import static java.util.Objects.requireNonNull;

import java.util.List;

/// Decision of the node about the blocks of a request, known before a byte of them moves.
///
/// @param blocks blocks asked for
/// @param hits blocks that counted as hits
/// @param prefixHits hits before the first miss
/// @param admitted trace ids of the blocks that a prefill party must put now
public record Answer(int blocks, int hits, int prefixHits, List<Long> admitted) {
  public Answer {
    admitted = List.copyOf(requireNonNull(admitted, "admitted"));
    if (hits < 0 || hits > blocks || prefixHits < 0 || prefixHits > hits) {
      throw new IllegalArgumentException(
          "prefixHits <= hits <= blocks must hold (was " + prefixHits + ", " + hits + ", " + blocks + ")");
    }
  }
}
