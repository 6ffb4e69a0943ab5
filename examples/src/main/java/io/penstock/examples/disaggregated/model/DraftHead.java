package io.penstock.examples.disaggregated.model;

import io.penstock.examples.disaggregated.tensors.ModelFileException;

/// The head that guesses the next token but one, as in DeepSeek's multi-token prediction: the embedding of a token and
/// the model's vector of the token before it go through one more layer.
///
/// @param tokenNorm of the embedding
/// @param hiddenNorm of the vector of the token before
/// @param join of both, side by side
/// @param outputNorm behind the layer
record DraftHead(RmsNorm tokenNorm, RmsNorm hiddenNorm, Matrix join, RmsNorm outputNorm) {
  static DraftHead load(Linears linears) throws ModelFileException {
    return new DraftHead(linears.norm("enorm"), linears.norm("hnorm"), linears.all("eh_proj"),
        linears.norm("shared_head.norm"));
  }

  /// The vector that goes into the draft layer.
  float[] input(float[] embedding, float[] before) {
    float[] x = new float[join.columns()];
    join.addTimes(tokenNorm.of(embedding), 0, 0, x);
    join.addTimes(hiddenNorm.of(before), embedding.length, 0, x);
    return x;
  }
}
