package io.penstock.node.shape;

import static io.penstock.block.Plane.ElementType.BF16;
import static io.penstock.block.Plane.ElementType.FP32;
import static io.penstock.block.Plane.ElementType.FP8_E4M3;

import io.penstock.block.BlockLayout;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.Plane.Kind;
import io.penstock.node.shape.KvShape.Heads;
import io.penstock.node.shape.KvShape.Latent;
import io.penstock.node.shape.KvShape.Part;
import io.penstock.node.shape.KvShape.Planes;
import io.penstock.node.text.Nearest;
import java.util.List;
import java.util.Optional;

/// A known model and the layout of its KV cache.
///
/// The figures are those of `config.json` in the model's repository at huggingface.co: `num_hidden_layers`,
/// `num_key_value_heads` and `head_dim` (or `hidden_size / num_attention_heads`); for MLA `kv_lora_rank` and
/// `qk_rope_head_dim`; for GLM-4 `num_layers`, `multi_query_group_num` and `kv_channels`. Which layers have a sliding
/// window says `layer_types`, or `sliding_window_pattern`; how long it is `sliding_window`. Gemma-4 has
/// `global_head_dim` and `num_global_key_value_heads` in layers of full attention, and stores keys and values there
/// although one projection makes both.
///
/// DeepSeek-V3.2 is as vLLM stores it with `fp8_ds_mla` (`flashmla_sparse.py`): 656 bytes a token and layer, which are
/// 512 FP8 values, 4 scales and 64 rotary values; and 132 bytes of the indexer, 128 FP8 values and a scale.
///
/// The state of Qwen3-Next is that of `MambaStateShapeCalculator.gated_delta_net_state_shape` in vLLM: the last 3
/// inputs of a convolution over queries, keys and values, and a matrix of 128 x 128 for each of 32 value heads. The
/// convolution is laid out by value head, of which each has half a query and half a key head. States are stored every
/// 512 tokens: vLLM makes blocks of about so many tokens, in which keys and values are as large as a state.
///
/// @param name as `--model` takes it
/// @param groups KV cache groups: one, unless layers differ
/// @param source repository whose `config.json` has the figures
public record ModelPreset(String name, List<ModelGroup> groups, String source) {
  private static final int STATE_TOKENS = 512;

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
      windows("gemma-2-9b", 42, LayerNumbers.run(1, 41, 2), new Heads(8, 256), 4096, "google/gemma-2-9b"),
      windows("gemma-3-4b", 34, LayerNumbers.run(5, 33, 6), new Heads(4, 256), 1024, "google/gemma-3-4b-pt"),
      windows("gemma-3-12b", 48, LayerNumbers.run(5, 47, 6), new Heads(8, 256), 1024, "google/gemma-3-12b-pt"),
      windows("gemma-3-27b", 62, LayerNumbers.run(5, 61, 6), new Heads(16, 128), 1024, "google/gemma-3-27b-pt"),
      gemma4("gemma-4-31b", 60, new Heads(4, 512), new Heads(16, 256), "google/gemma-4-31B"),
      windows("gpt-oss-20b", 24, LayerNumbers.run(1, 23, 2), new Heads(8, 64), 128, "openai/gpt-oss-20b"),
      windows("gpt-oss-120b", 36, LayerNumbers.run(1, 35, 2), new Heads(8, 64), 128, "openai/gpt-oss-120b"),
      gatedDelta("qwen3-next-80b-a3b", 48, new Heads(2, 256), "Qwen/Qwen3-Next-80B-A3B-Instruct"),
      heads("glm-4-9b", 40, 2, 128, "THUDM/glm-4-9b"),
      latent("deepseek-v2-lite", 27, "deepseek-ai/DeepSeek-V2-Lite"),
      latent("deepseek-v3", 61, "deepseek-ai/DeepSeek-V3"),
      latent("deepseek-r1", 61, "deepseek-ai/DeepSeek-R1"),
      one("deepseek-v3.2", 61, new Planes(List.of(Part.of(Kind.LATENT, 1, 512, FP8_E4M3),
          Part.of(Kind.SCALES, 1, 4, FP32), Part.of(Kind.ROPE, 1, 64, BF16), Part.of(Kind.INDEXER, 1, 128, FP8_E4M3),
          Part.of(Kind.SCALES, 1, 1, FP32))), "deepseek-ai/DeepSeek-V3.2"));

  public ModelPreset {
    groups = List.copyOf(groups);
  }

  private static ModelPreset one(String name, int layers, KvShape shape, String source) {
    return new ModelPreset(name, List.of(ModelGroup.full(LayerNumbers.first(layers), shape)), source);
  }

  private static ModelPreset heads(String name, int layers, int kvHeads, int headDim, String source) {
    return one(name, layers, new Heads(kvHeads, headDim), source);
  }

  /// DeepSeek's models have the same latent and rotary part in each layer.
  private static ModelPreset latent(String name, int layers, String source) {
    return one(name, layers, new Latent(512, 64), source);
  }

  /// Layers of one shape, some of which see all tokens and the others those of a window.
  private static ModelPreset windows(String name, int layers, LayerNumbers full, Heads heads, int window,
      String source) {
    return new ModelPreset(name,
        List.of(ModelGroup.full(full, heads), ModelGroup.sliding(full.others(layers), heads, window)), source);
  }

  /// Every sixth layer sees all tokens, with wider heads.
  private static ModelPreset gemma4(String name, int layers, Heads full, Heads sliding, String source) {
    LayerNumbers global = LayerNumbers.run(5, layers - 1, 6);
    return new ModelPreset(name, List.of(ModelGroup.full(global, full),
        ModelGroup.sliding(global.others(layers), sliding, 1024)), source);
  }

  /// Every fourth layer has attention, the others a gated delta net.
  private static ModelPreset gatedDelta(String name, int layers, Heads full, String source) {
    LayerNumbers attention = LayerNumbers.run(3, layers - 1, 4);
    Planes state = new Planes(
        List.of(Part.of(Kind.CONVOLUTION, 32, 3 * 256, BF16), Part.of(Kind.STATE, 32, 128 * 128, BF16)));
    return new ModelPreset(name, List.of(ModelGroup.full(attention, full),
        ModelGroup.state(attention.others(layers), state, STATE_TOKENS)), source);
  }

  /// The preset of this name, if it is one.
  public static Optional<ModelPreset> of(String name) {
    return ALL.stream().filter(preset -> preset.name.equals(name)).findFirst();
  }

  /// The name of a preset that `name` was probably meant to be; empty if none is near.
  public static Optional<String> meant(String name) {
    return Nearest.of(name, ALL.stream().map(ModelPreset::name).toList()).stream().findFirst();
  }

  /// Whether the model has several groups, and so several spaces of blocks.
  public boolean isGrouped() {
    return groups.size() > 1;
  }

  /// Layers of all groups.
  public int layers() {
    return groups.stream().mapToInt(group -> group.layers().count()).sum();
  }

  /// Bytes that the cache of a prompt takes for each token, over all groups.
  public long bytesPerToken(ElementType type) {
    return groups.stream().mapToLong(group -> group.bytesPerToken(type)).sum();
  }

  /// The groups as `--kv-groups` takes them.
  public String kvGroups() {
    return ModelGroup.text(groups);
  }

  /// Content of a layer of the first group.
  public KvShape shape() {
    return groups.getFirst().shape();
  }

  /// Blocks of the first group, which is all of a model that is not grouped, when nothing else is stated.
  public BlockLayout layout() {
    return groups.getFirst().layout(BlockShape.DEFAULT_TOKENS, BF16);
  }
}
