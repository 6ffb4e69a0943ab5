package io.penstock.examples.disaggregated.model;

import io.penstock.examples.disaggregated.model.RotaryConfig.Scaling;
import io.penstock.examples.disaggregated.tensors.StoredType;
import io.penstock.node.text.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Writes a `config.json` from which [ConfigFile] reads an equal configuration.
final class ConfigWriter {
  private final ModelConfig config;
  private final Map<String, Object> fields = new LinkedHashMap<>();

  private ConfigWriter(ModelConfig config) {
    this.config = config;
  }

  static void write(ModelConfig config, StoredType type, Path file) throws IOException {
    ConfigWriter writer = new ConfigWriter(config);
    writer.sizes();
    writer.parts();
    writer.windows();
    writer.latent();
    writer.fields.put("torch_dtype", torchName(type));
    Files.writeString(file, Json.of(writer.fields) + "\n", StandardCharsets.UTF_8);
  }

  private void sizes() {
    fields.put("architectures", List.of(config.family().architecture()));
    fields.put("model_type", config.family().modelType());
    fields.put("hidden_size", config.hiddenSize());
    fields.put("num_hidden_layers", config.layers());
    fields.put("num_attention_heads", config.heads());
    fields.put("num_key_value_heads", config.latent() == null ? config.kvHeads() : config.heads());
    fields.put("head_dim", config.headDim());
    fields.put("intermediate_size", config.intermediateSize());
    fields.put("vocab_size", config.vocabSize());
    fields.put("max_position_embeddings", config.maxPositions());
    fields.put("num_nextn_predict_layers", config.draftLayers());
  }

  private void parts() {
    fields.put("hidden_act", "silu");
    fields.put("rms_norm_eps", config.rmsNormEps());
    fields.put("rope_parameters", rotary());
    fields.put("tie_word_embeddings", config.tiedEmbeddings());
    if (config.family().choosesAttentionBias()) {
      fields.put("attention_bias", config.attentionBias());
    }
    if (config.family() == ModelFamily.LLAMA) {
      fields.put("mlp_bias", config.feedForwardBias());
    }
  }

  private Map<String, Object> rotary() {
    Map<String, Object> rotary = new LinkedHashMap<>();
    Scaling scaling = config.rotary().scaling();
    boolean isScaled = !scaling.equals(Scaling.NONE);
    rotary.put("rope_type", scaling.originalPositions() > 0 ? "llama3" : isScaled ? "linear" : "default");
    rotary.put("rope_theta", config.rotary().theta());
    if (isScaled) {
      rotary.put("factor", scaling.factor());
    }
    if (scaling.originalPositions() > 0) {
      rotary.put("low_freq_factor", scaling.lowFactor());
      rotary.put("high_freq_factor", scaling.highFactor());
      rotary.put("original_max_position_embeddings", scaling.originalPositions());
    }
    if (config.family().turnsPartly()) {
      rotary.put("partial_rotary_factor", (double) config.rotary().width() / config.headDim());
    }
    return rotary;
  }

  private void windows() {
    int window = config.windows().stream().mapToInt(Integer::intValue).max().orElse(0);
    switch (config.family()) {
      case MISTRAL, PHI3 -> fields.put("sliding_window", window == 0 ? null : window);
      case QWEN2, QWEN3 -> {
        fields.put("use_sliding_window", window > 0);
        if (window > 0) {
          fields.put("sliding_window", window);
          fields.put("layer_types",
              config.windows().stream().map(each -> each > 0 ? "sliding_attention" : "full_attention").toList());
        }
      }
      default -> {
      } // all tokens are visible
    }
  }

  private void latent() {
    LatentConfig latent = config.latent();
    if (latent != null) {
      fields.put("q_lora_rank", null);
      fields.put("kv_lora_rank", latent.kvLoraRank());
      fields.put("qk_rope_head_dim", latent.qkRopeHeadDim());
      fields.put("qk_nope_head_dim", latent.qkNopeHeadDim());
      fields.put("v_head_dim", latent.vHeadDim());
      fields.put("rope_interleave", config.rotary().interleaved());
      fields.put("first_k_dense_replace", config.cachedLayers());
    }
  }

  private static String torchName(StoredType type) {
    return switch (type) {
      case F32 -> "float32";
      case F16 -> "float16";
      case BF16 -> "bfloat16";
      default -> throw new IllegalArgumentException("type must be F32, F16 or BF16 (was " + type + ")");
    };
  }
}
