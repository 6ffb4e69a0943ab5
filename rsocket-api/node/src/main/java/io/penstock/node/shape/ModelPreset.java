package io.penstock.node.shape;

import io.penstock.block.BlockLayout;
import io.penstock.block.Plane.ElementType;
import io.penstock.node.shape.KvShape.Heads;
import io.penstock.node.shape.KvShape.Latent;
import java.util.List;
import java.util.Optional;

/// A known model and the layout of its KV cache.
///
/// The figures are those of `config.json` in the model's repository at huggingface.co: `num_hidden_layers`,
/// `num_key_value_heads` and `head_dim` (or `hidden_size / num_attention_heads`); for MLA `kv_lora_rank` and
/// `qk_rope_head_dim`; for GLM-4 `num_layers`, `multi_query_group_num` and `kv_channels`.
///
/// @param name as `--model` takes it
/// @param layers number of layers
/// @param shape what a layer keeps of a token
/// @param source repository whose `config.json` has the figures
public record ModelPreset(String name, int layers, KvShape shape, String source) {
  /// Every known model.
  public static final List<ModelPreset> ALL = List.of(
      heads("llama-3.1-8b", 32, 8, 128, "meta-llama/Llama-3.1-8B"),
      heads("llama-3.1-70b", 80, 8, 128, "meta-llama/Llama-3.1-70B"),
      heads("llama-3.1-405b", 126, 8, 128, "meta-llama/Llama-3.1-405B"),
      heads("llama-3.2-1b", 16, 8, 64, "meta-llama/Llama-3.2-1B"),
      heads("llama-3.2-3b", 28, 8, 128, "meta-llama/Llama-3.2-3B"),
      heads("qwen2.5-7b", 28, 4, 128, "Qwen/Qwen2.5-7B"),
      heads("qwen2.5-72b", 80, 8, 128, "Qwen/Qwen2.5-72B"),
      heads("qwen3-8b", 36, 8, 128, "Qwen/Qwen3-8B"),
      heads("qwen3-32b", 64, 8, 128, "Qwen/Qwen3-32B"),
      heads("qwen3-235b-a22b", 94, 4, 128, "Qwen/Qwen3-235B-A22B"),
      heads("mistral-7b", 32, 8, 128, "mistralai/Mistral-7B-v0.3"),
      heads("mixtral-8x7b", 32, 8, 128, "mistralai/Mixtral-8x7B-v0.1"),
      heads("gemma-2-9b", 42, 8, 256, "google/gemma-2-9b"),
      heads("glm-4-9b", 40, 2, 128, "THUDM/glm-4-9b"),
      latent("deepseek-v2-lite", 27, "deepseek-ai/DeepSeek-V2-Lite"),
      latent("deepseek-v3", 61, "deepseek-ai/DeepSeek-V3"),
      latent("deepseek-r1", 61, "deepseek-ai/DeepSeek-R1"));

  private static ModelPreset heads(String name, int layers, int kvHeads, int headDim, String source) {
    return new ModelPreset(name, layers, new Heads(kvHeads, headDim), source);
  }

  /// DeepSeek's models have the same latent and rotary part in each layer.
  private static ModelPreset latent(String name, int layers, String source) {
    return new ModelPreset(name, layers, new Latent(512, 64), source);
  }

  /// The preset of this name, if it is one.
  public static Optional<ModelPreset> of(String name) {
    return ALL.stream().filter(preset -> preset.name.equals(name)).findFirst();
  }

  /// Blocks of this model when nothing else is stated.
  public BlockLayout layout() {
    return shape.layout(layers, BlockShape.DEFAULT_TOKENS, ElementType.BF16);
  }
}
