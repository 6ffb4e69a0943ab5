package io.penstock.examples.jlama;

/// One turn of all conversations of a run, without and with a node.
///
/// @param turn from 1
/// @param promptTokens all tokens so far and the new question, over all conversations
/// @param newTokens tokens of the prompts that no session had computed before: questions, and the last token of answers
/// @param plainComputed tokens of prompts that were computed without a node
/// @param loaded tokens that came from the node
/// @param computed tokens of prompts that were computed with a node
/// @param plainSeconds from the prompt to the first token without a node, median
/// @param seconds from the prompt to the first token with a node, median
/// @param unlikeAnswers answers that differed
/// @param unlikeLogits prompts whose logits after the last token differed in a bit
record TurnFigures(int turn, long promptTokens, long newTokens, long plainComputed, long loaded, long computed,
    double plainSeconds, double seconds, int unlikeAnswers, int unlikeLogits) {
  /// How many times sooner the first token came with a node.
  double speedup() {
    return plainSeconds / seconds;
  }
}
