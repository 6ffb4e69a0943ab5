package io.penstock.examples.disaggregated.model;

import io.penstock.examples.disaggregated.tensors.ModelFileException;

/// The weights of one layer.
///
/// @param inputNorm before attention
/// @param attention projections of queries, cached vectors and output
/// @param outputNorm before the feed-forward part
/// @param feedForward SwiGLU
record Layer(RmsNorm inputNorm, Attention attention, RmsNorm outputNorm, SwiGlu feedForward) {
  static Layer load(ModelConfig config, Rotary rotary, Linears linears) throws ModelFileException {
    Linears attention = linears.below("self_attn");
    return new Layer(linears.norm("input_layernorm", config.hiddenSize()),
        config.latent() == null
            ? GroupedAttention.load(config, rotary, attention)
            : LatentAttention.load(config, rotary, attention),
        linears.norm("post_attention_layernorm", config.hiddenSize()), SwiGlu.load(config, linears.below("mlp")));
  }
}
