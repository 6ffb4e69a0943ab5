package io.penstock.examples.disaggregated.rank;

import io.penstock.examples.disaggregated.model.Vectors;

/// Data that a decode needs in addition to the cache: the vector of the prompt's last token, and the logits of the
/// first new token.
public final class Prefilled {
  private final float[] hidden;
  private final float[] logits;

  /// @param hidden output of the last layer for the last token of the prompt
  /// @param logits of the token that follows it
  public Prefilled(float[] hidden, float[] logits) {
    this.hidden = hidden;
    this.logits = logits;
  }

  public float[] hidden() {
    return hidden;
  }

  public float[] logits() {
    return logits;
  }

  public int firstToken() {
    return Vectors.argMax(logits);
  }
}
