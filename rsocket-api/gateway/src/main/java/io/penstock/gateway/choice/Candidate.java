package io.penstock.gateway.choice;

/// An instance, and what waits there. Guarded by its [Router].
final class Candidate {
  final int number;
  final String name;
  /// Whether the instance tells what it stores.
  final boolean tells;
  /// Tokens that the prompts sent here still have to compute, as estimated.
  double waitingTokens;
  /// Sum of the scores of requests whose KV cache is held here for a decode.
  double heldScore;
  /// Bytes of the requests that are generated here.
  double decodeBytes;
  /// Tokens of the requests that are generated here: their KV cache is held.
  long heldTokens;
  int requests;

  Candidate(int number, String name, boolean tells) {
    this.number = number;
    this.name = name;
    this.tells = tells;
  }
}
