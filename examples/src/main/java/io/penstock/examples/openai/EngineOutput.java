package io.penstock.examples.openai;

/// Takes what an [Engine] computes for one request.
public interface EngineOutput {
  /// The prompt is in the KV cache.
  ///
  /// @param cachedTokens tokens of the prompt that were not computed, at least 0
  void prefilled(int cachedTokens);

  /// The next token of the answer.
  void token(int token);
}
