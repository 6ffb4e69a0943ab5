package io.penstock.disagg.plan;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// The tokens of a request that go from each context rank of the prefill side to each context rank of the decode side.
/// Every side deals its blocks to its context ranks by turns, for any size of a block.
final class TokenPieces {
  private final int readers;
  private final List<List<TokenPiece>> pieces;

  /// @param from first token to move
  /// @param to token after the last
  TokenPieces(Side source, Side destination, int from, int to) {
    this.readers = destination.ranks;
    this.pieces = Stream.generate(() -> (List<TokenPiece>) new ArrayList<TokenPiece>())
        .limit((long) source.ranks * readers).toList();
    for (int token = from; token < to;) {
      int sourceBlock = token / source.tokens;
      int destinationBlock = token / destination.tokens;
      int end = (int) Math.min(to,
          Math.min((sourceBlock + 1L) * source.tokens, (destinationBlock + 1L) * destination.tokens));
      pieces.get(sourceBlock % source.ranks * readers + destinationBlock % readers)
          .add(new TokenPiece(sourceBlock / source.ranks, token % source.tokens, destinationBlock / readers,
              token % destination.tokens, token, end - token));
      token = end;
    }
  }

  /// @param tokens of a block
  /// @param ranks context ranks
  record Side(int tokens, int ranks) {}

  /// Pieces in the order of the prompt.
  List<TokenPiece> between(int sourceRank, int destinationRank) {
    return pieces.get(sourceRank * readers + destinationRank);
  }
}
