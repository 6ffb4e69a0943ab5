package io.penstock.examples.disaggregated;

import io.penstock.examples.disaggregated.model.Vectors;

/// What a decode needs beside the cache: the vector of the prompt's last token, and the logits of the first new token.
final class Prefilled {
  private final float[] hidden;
  private final float[] logits;

  /// @param hidden what came out of the last layer for the last token of the prompt
  /// @param logits of the token that follows it
  Prefilled(float[] hidden, float[] logits) {
    this.hidden = hidden;
    this.logits = logits;
  }

  float[] hidden() {
    return hidden;
  }

  float[] logits() {
    return logits;
  }

  int firstToken() {
    return Vectors.argMax(logits);
  }
}
