package io.penstock.disagg.plan;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import java.util.List;

/// The part that one rank of the prefill side gives to one rank of the decode side: some layers and heads, for some
/// tokens. It names everything that a mover needs to gather from blocks of the source and to place into blocks of the
/// destination; the manifests of both sides state the order of axes.
///
/// @param group KV cache group, an index into [Manifest#groups()]
/// @param source rank of the prefill side
/// @param destination rank of the decode side
/// @param layers of the group
/// @param heads KV heads of every plane
/// @param pieces in the order of the prompt, at least one
public record Transfer(int group, Rank source, Rank destination, Extent layers, Extent heads, List<TokenPiece> pieces) {
  public Transfer {
    Checks.notNegative("group", group);
    requireNonNull(source, "source");
    requireNonNull(destination, "destination");
    requireNonNull(layers, "layers");
    requireNonNull(heads, "heads");
    pieces = List.copyOf(pieces);
    if (pieces.isEmpty()) {
      throw new IllegalArgumentException("pieces must not be empty");
    }
  }

  /// Tokens of all pieces.
  public int tokens() {
    return pieces.stream().mapToInt(TokenPiece::tokens).sum();
  }

  /// Pieces that can be moved as one, by the indexes of their blocks: both sides go on by one block, and the pieces lie
  /// at the same place in it. Where blocks lie in memory is for `ContiguousRuns` to say.
  public List<Run> runs() {
    return Run.split(pieces.size(), i -> {
      TokenPiece before = pieces.get(i - 1);
      TokenPiece piece = pieces.get(i);
      return piece.sourceBlock() == before.sourceBlock() + 1
          && piece.destinationBlock() == before.destinationBlock() + 1
          && piece.sourceToken() == before.sourceToken() && piece.destinationToken() == before.destinationToken()
          && piece.tokens() == before.tokens();
    });
  }
}
