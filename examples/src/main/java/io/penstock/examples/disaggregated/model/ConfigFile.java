package io.penstock.examples.disaggregated.model;

import io.penstock.examples.disaggregated.model.RotaryConfig.Scaling;
import io.penstock.examples.disaggregated.tensors.ModelFileException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/// The `config.json` of a checkpoint, with the keys of Hugging Face. Each key is used, or is in a list of those that
/// change nothing, or is refused by name. A key whose default depends on the family must be stated.
final class ConfigFile {
  static final String NAME = "config.json";
  private static final long MOST_BYTES = 1 << 20;
  private static final JsonMapper STRICT = JsonMapper.builder()
      .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
      .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
      .build();

  /// Names, numbers of tokens that the story replaces by its own, and what only training and memory depend on.
  private static final Set<String> CHANGE_NOTHING = Set.of("_name_or_path", "transformers_version",
      "_attn_implementation", "attn_implementation", "bos_token_id", "eos_token_id", "pad_token_id", "use_cache",
      "initializer_range",
      "attention_dropout", "hidden_dropout", "resid_pdrop", "embd_pdrop", "return_dict", "output_attentions",
      "output_hidden_states", "torchscript", "id2label", "label2id", "problem_type", "task_specific_params");

  /// Of experts and their training, which no layer here has.
  private static final Set<String> OF_EXPERTS = Set.of("n_routed_experts", "n_shared_experts", "num_experts_per_tok",
      "moe_intermediate_size", "moe_layer_freq", "n_group", "topk_group", "topk_method", "norm_topk_prob",
      "routed_scaling_factor", "scoring_func", "aux_loss_alpha", "seq_aux", "ep_size");

  private final ConfigKeys keys;
  private final ModelFamily family;

  private ConfigFile(ConfigKeys keys, ModelFamily family) {
    this.keys = keys;
    this.family = family;
  }

  /// @throws ModelFileException if the file is no configuration of a model that can be computed
  static ModelConfig read(Path file) throws IOException {
    if (!Files.exists(file)) {
      throw new ModelFileException(file, "file must be there (is missing)");
    }
    if (Files.size(file) > MOST_BYTES) {
      throw new ModelFileException(file, "file must have <= " + MOST_BYTES + " bytes (was " + Files.size(file) + ")");
    }
    try {
      ConfigKeys keys = new ConfigKeys(file, "", STRICT.readTree(Files.readAllBytes(file)));
      ModelFamily family = ModelFamily.of(keys.text("model_type")).orElseThrow(() -> keys.refused("model_type",
          String.join(", ", Stream.of(ModelFamily.values()).map(ModelFamily::modelType).toList())));
      ModelConfig config = new ConfigFile(keys, family).config();
      keys.refuseOthers();
      return config;
    } catch (JacksonException e) {
      throw new ModelFileException(file, "file must be JSON without repeated names: " + e.getOriginalMessage(), e);
    } catch (IllegalArgumentException e) {
      throw new ModelFileException(file, String.valueOf(e.getMessage()), e);
    }
  }

  private ModelConfig config() throws ModelFileException {
    allowOnlyWhatIsComputed();
    int heads = keys.integer("num_attention_heads");
    int hidden = keys.integer("hidden_size");
    int layers = keys.integer("num_hidden_layers");
    int draftLayers = keys.integer("num_nextn_predict_layers", 0);
    LatentConfig latent = family == ModelFamily.DEEPSEEK_V3 ? latent(layers + draftLayers) : null;
    int kvHeads = latent != null ? 1 : kvHeads(heads);
    if (latent != null) {
      keys.allow("num_key_value_heads", String.valueOf(heads)); // each head has keys of its own, unfolded
    }
    int headDim = headDim(latent, hidden, heads);
    return new ModelConfig(family, hidden, layers, heads, kvHeads, headDim, keys.integer("intermediate_size"),
        keys.integer("vocab_size"), keys.integer("max_position_embeddings"), (float) keys.number("rms_norm_eps"),
        rotary(headDim), attentionBias(), family == ModelFamily.LLAMA && keys.flag("mlp_bias", false), windows(layers),
        keys.flag("tie_word_embeddings", false), latent, draftLayers);
  }

  private void allowOnlyWhatIsComputed() throws ModelFileException {
    keys.ignore(CHANGE_NOTHING);
    for (String name : keys.texts("architectures")) {
      if (!name.equals(family.architecture())) {
        throw keys.refused("architectures", "[\"" + family.architecture() + "\"] for this model_type");
      }
    }
    keys.allow("hidden_act", "silu");
    keys.allow("torch_dtype", "float32", "float16", "bfloat16");
    keys.allow("dtype", "float32", "float16", "bfloat16");
    keys.allow("pretraining_tp", "1");
    for (String off : List.of("is_encoder_decoder", "is_decoder", "add_cross_attention", "tie_encoder_decoder",
        "use_bfloat16", "use_mrope")) {
      keys.allow(off, "false");
    }
    keys.allow("chunk_size_feed_forward", "0");
    keys.allow("pruned_heads", "{}");
    if (family == ModelFamily.PHI3) {
      keys.ignore(Set.of("original_max_position_embeddings")); // of a scaling that is refused
    }
  }

  /// Only a Llama model has a default that does not depend on the version of its code.
  private int kvHeads(int heads) throws ModelFileException {
    return family == ModelFamily.LLAMA
        ? keys.integer("num_key_value_heads", heads)
        : keys.integer("num_key_value_heads");
  }

  private int headDim(@Nullable LatentConfig latent, int hidden, int heads) throws ModelFileException {
    if (latent != null) {
      return keys.integer("head_dim", latent.qkRopeHeadDim());
    }
    if (family == ModelFamily.QWEN3 || family == ModelFamily.GLM || keys.states("head_dim")) {
      return keys.integer("head_dim");
    }
    if (heads > 0 && hidden % heads != 0) {
      throw keys.refused("head_dim", "there, since num_attention_heads does not divide hidden_size");
    }
    return hidden / Math.max(1, heads);
  }

  private boolean attentionBias() throws ModelFileException {
    if (family.choosesAttentionBias()) {
      return keys.flag("attention_bias", false);
    }
    boolean has = family == ModelFamily.QWEN2;
    keys.allow("attention_bias", String.valueOf(has));
    return has;
  }

  private LatentConfig latent(int layers) throws ModelFileException {
    keys.ignore(OF_EXPERTS);
    if (!keys.has("q_lora_rank")) {
      throw keys.refused("q_lora_rank", "null, since queries of low rank are not computed here");
    }
    if (keys.integer("first_k_dense_replace") < layers) {
      throw keys.refused("first_k_dense_replace", ">= the " + layers + " layers, since experts are not computed here");
    }
    LatentConfig latent = new LatentConfig(keys.integer("kv_lora_rank"), keys.integer("qk_rope_head_dim"),
        keys.integer("qk_nope_head_dim"), keys.integer("v_head_dim"));
    keys.allow("qk_head_dim", String.valueOf(latent.queryWidth()));
    return latent;
  }

  private RotaryConfig rotary(int headDim) throws ModelFileException {
    boolean old = keys.states("rope_scaling");
    boolean hasNew = keys.states("rope_parameters");
    if (old && hasNew && !keys.areEqual("rope_scaling", "rope_parameters")) {
      throw keys.refused("rope_scaling", "left out beside rope_parameters, or equal");
    }
    ConfigKeys below = old || hasNew ? keys.below(hasNew ? "rope_parameters" : "rope_scaling") : null;
    double theta = either(below, "rope_theta", family == ModelFamily.LLAMA ? 10_000 : Double.NaN);
    double part = part(below);
    int width = (int) (headDim * part);
    RotaryConfig config = new RotaryConfig(theta, width, interleaved(), below == null ? Scaling.NONE : scaling(below));
    if (below != null) {
      below.refuseOthers();
    }
    return config;
  }

  private double part(@Nullable ConfigKeys below) throws ModelFileException {
    double part = either(below, "partial_rotary_factor", family == ModelFamily.GLM ? Double.NaN : 1);
    if (!(part > 0 && part <= 1) || (part < 1 && !family.turnsPartly())) {
      throw (below != null && below.states("partial_rotary_factor") ? below : keys).refused("partial_rotary_factor",
          family.turnsPartly() ? "> 0 and <= 1" : "1 or left out for this model_type");
    }
    return part;
  }

  /// A number that stands in the file itself or in the object of rotary positions.
  ///
  /// @param absent value if it is in neither; NaN if it must be there
  private double either(@Nullable ConfigKeys below, String name, double absent) throws ModelFileException {
    double outer = keys.number(name, Double.NaN);
    double inner = below == null ? Double.NaN : below.number(name, Double.NaN);
    if (outer != inner && !Double.isNaN(outer) && !Double.isNaN(inner)) {
      throw keys.refused(name, "left out, or the same as in rope_parameters");
    }
    double found = Double.isNaN(inner) ? outer : inner;
    if (Double.isNaN(found) && Double.isNaN(absent)) {
      throw keys.refused(name, "a number");
    }
    return Double.isNaN(found) ? absent : found;
  }

  private boolean interleaved() throws ModelFileException {
    return family == ModelFamily.GLM
        || (family == ModelFamily.DEEPSEEK_V3 && keys.flag("rope_interleave", true));
  }

  private static Scaling scaling(ConfigKeys rope) throws ModelFileException {
    String key = rope.states("rope_type") ? "rope_type" : "type";
    if (rope.states("rope_type") && rope.states("type") && !rope.areEqual("rope_type", "type")) {
      throw rope.refused("type", "left out beside rope_type, or equal");
    }
    String type = rope.text(key);
    return switch (type) {
      case "default" -> Scaling.NONE;
      case "linear" -> Scaling.linear(rope.number("factor"));
      case "llama3" -> new Scaling(rope.number("factor"), rope.number("low_freq_factor"),
          rope.number("high_freq_factor"), rope.integer("original_max_position_embeddings"));
      default -> throw rope.refused(key, "default, linear or llama3");
    };
  }

  /// Tokens that each layer sees; empty if all see all.
  private List<Integer> windows(int layers) throws ModelFileException {
    List<Boolean> sliding = sliding(layers);
    List<String> types = keys.texts("layer_types");
    if (!types.isEmpty()) {
      sliding = typed(types, sliding, layers);
    }
    return sliding.contains(true) ? windows(sliding, keys.integer("sliding_window")) : List.of();
  }

  private List<Integer> windows(List<Boolean> sliding, int window) throws ModelFileException {
    if (window <= 0) {
      throw keys.refused("sliding_window", "> 0");
    }
    return sliding.stream().map(each -> each ? window : 0).toList();
  }

  /// Which layers have a window by the rule of the family.
  private List<Boolean> sliding(int layers) throws ModelFileException {
    switch (family) {
      case MISTRAL, PHI3 -> {
        if (!keys.has("sliding_window")) {
          throw keys.refused("sliding_window", "a number of tokens, or null");
        }
        return Collections.nCopies(layers, keys.states("sliding_window"));
      }
      case QWEN2, QWEN3 -> {
        keys.ignore(Set.of("sliding_window", "max_window_layers")); // nothing without use_sliding_window
        if (!keys.flag("use_sliding_window", false)) {
          return Collections.nCopies(layers, false);
        }
        int first = keys.states("layer_types") ? 0 : keys.integer("max_window_layers");
        return IntStream.range(0, layers).mapToObj(layer -> layer >= first).toList();
      }
      default -> {
        return Collections.nCopies(layers, false);
      }
    }
  }

  private List<Boolean> typed(List<String> types, List<Boolean> byRule, int layers) throws ModelFileException {
    if (types.size() != layers || !Set.of("full_attention", "sliding_attention").containsAll(types)) {
      throw keys.refused("layer_types", "full_attention or sliding_attention for each of the " + layers + " layers");
    }
    List<Boolean> typed = types.stream().map("sliding_attention"::equals).toList();
    boolean chooses = family == ModelFamily.QWEN2 || family == ModelFamily.QWEN3;
    if (!typed.equals(byRule) && !(chooses && byRule.contains(true))) {
      throw keys.refused("layer_types", (byRule.contains(true) ? "sliding_attention" : "full_attention")
          + " in each layer, as the other keys say");
    }
    return typed;
  }
}
