package io.penstock.disagg.plan;

import io.penstock.check.Checks;

/// Tokens that lie in one block of the source and in one block of the destination. Blocks are counted in the list of
/// all blocks that the rank keeps for the request, those of a cached prefix included.
///
/// @param sourceBlock index in the source rank's block list
/// @param sourceToken first token inside that block
/// @param destinationBlock index in the destination rank's block list
/// @param destinationToken first token inside that block
/// @param firstToken position of the first token in the prompt
/// @param tokens at least 1
public record TokenPiece(int sourceBlock, int sourceToken, int destinationBlock, int destinationToken, int firstToken,
    int tokens) {
  public TokenPiece {
    Checks.notNegative("sourceBlock", sourceBlock);
    Checks.notNegative("sourceToken", sourceToken);
    Checks.notNegative("destinationBlock", destinationBlock);
    Checks.notNegative("destinationToken", destinationToken);
    Checks.notNegative("firstToken", firstToken);
    Checks.positive("tokens", tokens);
  }
}
