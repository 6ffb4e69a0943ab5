package io.penstock.examples.disaggregated.model;

import static java.util.Objects.requireNonNull;

import java.util.LinkedHashMap;
import java.util.Map;

/// Name and shape of every tensor of a model: a file has all of these, and no other that changes a number.
final class TensorShapes {
  static final String EMBEDDING = "model.embed_tokens.weight";
  static final String OUTPUT = "lm_head.weight";
  static final String NORM = "model.norm.weight";

  private final ModelConfig config;
  private final Map<String, int[]> shapes = new LinkedHashMap<>();

  private TensorShapes(ModelConfig config) {
    this.config = config;
  }

  /// The shapes by name, in the order of the computation.
  static Map<String, int[]> of(ModelConfig config) {
    return new TensorShapes(config).all();
  }

  /// Beginning of the names of a layer's tensors.
  static String layer(int layer) {
    return "model.layers." + layer + ".";
  }

  private Map<String, int[]> all() {
    int hidden = config.hiddenSize();
    shapes.put(EMBEDDING, new int[] {config.vocabSize(), hidden});
    for (int number = 0; number < config.cachedLayers(); number++) {
      String layer = layer(number);
      weight(layer + "input_layernorm", hidden);
      if (config.latent() == null) {
        groupedAttention(layer + "self_attn.");
      } else {
        latentAttention(layer + "self_attn.", requireNonNull(config.latent()));
      }
      weight(layer + "post_attention_layernorm", hidden);
      feedForward(layer + "mlp.");
    }
    if (config.draftLayers() > 0) {
      draftHead(layer(config.layers()));
    }
    shapes.put(NORM, new int[] {hidden});
    if (!config.tiedEmbeddings()) {
      shapes.put(OUTPUT, new int[] {config.vocabSize(), hidden});
    }
    return shapes;
  }

  private void weight(String name, int... shape) {
    shapes.put(name + ".weight", shape);
  }

  private void linear(String name, int outputs, int inputs, boolean hasBias) {
    weight(name, outputs, inputs);
    if (hasBias) {
      shapes.put(name + ".bias", new int[] {outputs});
    }
  }

  private void groupedAttention(String name) {
    int hidden = config.hiddenSize();
    int queries = config.heads() * config.headDim();
    int cached = config.kvHeads() * config.headDim();
    boolean hasBias = config.attentionBias();
    if (config.family().fusesAttention()) {
      linear(name + "qkv_proj", queries + 2 * cached, hidden, hasBias);
    } else {
      linear(name + "q_proj", queries, hidden, hasBias);
      linear(name + "k_proj", cached, hidden, hasBias);
      linear(name + "v_proj", cached, hidden, hasBias);
    }
    if (config.family().hasHeadNorms()) {
      weight(name + "q_norm", config.headDim());
      weight(name + "k_norm", config.headDim());
    }
    linear(name + "o_proj", hidden, queries, config.outputBias());
  }

  private void latentAttention(String name, LatentConfig latent) {
    int hidden = config.hiddenSize();
    weight(name + "q_proj", config.heads() * latent.queryWidth(), hidden);
    weight(name + "kv_a_proj_with_mqa", latent.kvLoraRank() + latent.qkRopeHeadDim(), hidden);
    weight(name + "kv_a_layernorm", latent.kvLoraRank());
    weight(name + "kv_b_proj", config.heads() * latent.unfoldedWidth(), latent.kvLoraRank());
    weight(name + "o_proj", hidden, config.heads() * latent.vHeadDim());
  }

  private void feedForward(String name) {
    int hidden = config.hiddenSize();
    int wide = config.intermediateSize();
    if (config.family().fusesFeedForward()) {
      linear(name + "gate_up_proj", 2 * wide, hidden, config.feedForwardBias());
    } else {
      linear(name + "gate_proj", wide, hidden, config.feedForwardBias());
      linear(name + "up_proj", wide, hidden, config.feedForwardBias());
    }
    linear(name + "down_proj", hidden, wide, config.feedForwardBias());
  }

  private void draftHead(String name) {
    weight(name + "enorm", config.hiddenSize());
    weight(name + "hnorm", config.hiddenSize());
    weight(name + "eh_proj", config.hiddenSize(), 2 * config.hiddenSize());
    weight(name + "shared_head.norm", config.hiddenSize());
  }
}
