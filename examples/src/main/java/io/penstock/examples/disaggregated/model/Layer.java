package io.penstock.examples.disaggregated.model;

import io.penstock.examples.disaggregated.tensors.ModelFileException;

/// The weights of one layer that one rank has.
///
/// @param inputNorm before attention
/// @param attention projections of queries, cached vectors and output
/// @param attentionBias added once to the sum over all heads; empty for none
/// @param outputNorm before the feed-forward part
/// @param feedForward SwiGLU
/// @param feedForwardBias added once to the sum over all columns; empty for none
record Layer(RmsNorm inputNorm, Attention attention, float[] attentionBias, RmsNorm outputNorm, SwiGlu feedForward,
    float[] feedForwardBias) {
  static Layer load(ModelConfig config, ModelPart part, Rotary rotary, Linears linears) throws ModelFileException {
    Linears attention = linears.below("self_attn");
    Linears feedForward = linears.below("mlp");
    int sums = part.rank() == 0 ? config.hiddenSize() : 0; // the first rank adds the biases of sums
    return new Layer(linears.norm("input_layernorm"),
        config.latent() == null
            ? GroupedAttention.load(config, part, rotary, attention)
            : LatentAttention.load(config, part, rotary, attention),
        attention.bias("o_proj", 0, sums), linears.norm("post_attention_layernorm"),
        SwiGlu.load(config, part, feedForward), feedForward.bias("down_proj", 0, sums));
  }
}
