package io.penstock.examples.disaggregated.model;

import java.util.Arrays;
import java.util.Optional;

/// The `model_type` of a configuration, and how the tensors of such a checkpoint differ from Llama's.
public enum ModelFamily {
  LLAMA("llama", "LlamaForCausalLM"),
  /// Llama with a sliding window in all layers.
  MISTRAL("mistral", "MistralForCausalLM"),
  /// Queries, keys and values have biases.
  QWEN2("qwen2", "Qwen2ForCausalLM"),
  /// Query and key heads are normalised.
  QWEN3("qwen3", "Qwen3ForCausalLM"),
  /// One matrix has queries, keys and values, and one has both inputs of SwiGLU.
  PHI3("phi3", "Phi3ForCausalLM"),
  /// Rotary pairs are neighbours; one matrix has both inputs of SwiGLU.
  GLM("glm", "GlmForCausalLM"),
  /// Latent attention, without experts.
  DEEPSEEK_V3("deepseek_v3", "DeepseekV3ForCausalLM");

  private final String modelType;
  private final String architecture;

  ModelFamily(String modelType, String architecture) {
    this.modelType = modelType;
    this.architecture = architecture;
  }

  static Optional<ModelFamily> of(String modelType) {
    return Arrays.stream(values()).filter(family -> family.modelType.equals(modelType)).findFirst();
  }

  String modelType() {
    return modelType;
  }

  /// Name of the class that generates text, in a configuration's `architectures`.
  String architecture() {
    return architecture;
  }

  boolean hasHeadNorms() {
    return this == QWEN3;
  }

  /// Whether `qkv_proj` has the rows of queries, of keys and of values.
  boolean fusesAttention() {
    return this == PHI3;
  }

  /// Whether `gate_up_proj` has the rows of the gate, and then of the other input.
  boolean fusesFeedForward() {
    return this == PHI3 || this == GLM;
  }

  /// Whether a configuration may choose the biases of attention.
  boolean choosesAttentionBias() {
    return this == LLAMA || this == QWEN3 || this == GLM;
  }

  /// Whether the output of attention has a bias where queries have one.
  boolean biasesOutput() {
    return this == LLAMA || this == QWEN3;
  }

  /// Whether a part of each head may be left without rotary positions.
  boolean turnsPartly() {
    return this == LLAMA || this == PHI3 || this == GLM;
  }
}
