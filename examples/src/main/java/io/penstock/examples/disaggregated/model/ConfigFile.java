package io.penstock.examples.disaggregated.model;

import io.penstock.examples.disaggregated.tensors.ModelFileException;
import io.penstock.examples.disaggregated.tensors.StoredType;
import io.penstock.node.text.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// The `config.json` of a checkpoint, with the names of Llama, and those of DeepSeek for latent attention and the draft
/// head. It refuses fields that would change the numbers and are not supported here.
final class ConfigFile {
  static final String NAME = "config.json";
  private static final long MOST_BYTES = 1 << 20;

  private final Path file;
  private final JsonNode json;

  private ConfigFile(Path file, JsonNode json) {
    this.file = file;
    this.json = json;
  }

  /// @throws ModelFileException if the file is no configuration of a model that can be computed
  static ModelConfig read(Path file) throws IOException {
    if (Files.size(file) > MOST_BYTES) {
      throw new ModelFileException(file, "file must have <= " + MOST_BYTES + " bytes (was " + Files.size(file) + ")");
    }
    try {
      return new ConfigFile(file, JsonMapper.shared().readTree(Files.readAllBytes(file))).config();
    } catch (JacksonException e) {
      throw new ModelFileException(file, "file must be JSON: " + e.getOriginalMessage(), e);
    } catch (IllegalArgumentException e) {
      throw new ModelFileException(file, String.valueOf(e.getMessage()), e);
    }
  }

  private ModelConfig config() throws ModelFileException {
    requireAbsentOr("hidden_act", "silu");
    requireAbsentOr("attention_bias", "false");
    requireAbsentOr("mlp_bias", "false");
    requireAbsentOr("rope_scaling", "null");
    requireAbsentOr("q_lora_rank", "null");
    int heads = integer("num_attention_heads");
    int hidden = integer("hidden_size");
    LatentConfig latent = latent();
    int kvHeads = latent != null ? 1 : integer("num_key_value_heads", heads);
    return new ModelConfig(hidden, integer("num_hidden_layers"), heads, kvHeads,
        integer("head_dim", hidden / Math.max(1, heads)), integer("intermediate_size"), integer("vocab_size"),
        integer("max_position_embeddings", 2048), (float) number("rms_norm_eps", 1e-6), number("rope_theta", 10_000),
        json.path("tie_word_embeddings").asBoolean(false), latent, integer("num_nextn_predict_layers", 0));
  }

  private @Nullable LatentConfig latent() throws ModelFileException {
    return json.hasNonNull("kv_lora_rank")
        ? new LatentConfig(integer("kv_lora_rank"), integer("qk_rope_head_dim"), integer("qk_nope_head_dim"),
            integer("v_head_dim"))
        : null;
  }

  private void requireAbsentOr(String name, String value) throws ModelFileException {
    JsonNode found = json.path(name);
    String text = found.isString() ? found.stringValue() : found.toString();
    if (!found.isMissingNode() && !text.equals(value)) {
      throw new ModelFileException(file, name + " must be " + value + " (was " + found + ")");
    }
  }

  private int integer(String name) throws ModelFileException {
    JsonNode found = json.path(name);
    if (!found.isIntegralNumber() || !found.canConvertToInt()) {
      throw new ModelFileException(file, name + " must be an integer (was " + found + ")");
    }
    return found.intValue();
  }

  private int integer(String name, int absent) throws ModelFileException {
    return json.hasNonNull(name) ? integer(name) : absent;
  }

  private double number(String name, double absent) throws ModelFileException {
    JsonNode found = json.path(name);
    if (json.hasNonNull(name) && !found.isNumber()) {
      throw new ModelFileException(file, name + " must be a number (was " + found + ")");
    }
    return json.hasNonNull(name) ? found.doubleValue() : absent;
  }

  static void write(ModelConfig config, StoredType type, Path file) throws IOException {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("model_type", "llama");
    fields.put("hidden_size", config.hiddenSize());
    fields.put("num_hidden_layers", config.layers());
    fields.put("num_attention_heads", config.heads());
    fields.put("num_key_value_heads", config.kvHeads());
    fields.put("head_dim", config.headDim());
    fields.put("intermediate_size", config.intermediateSize());
    fields.put("vocab_size", config.vocabSize());
    fields.put("max_position_embeddings", config.maxPositions());
    fields.put("hidden_act", "silu");
    fields.put("rms_norm_eps", config.rmsNormEps());
    fields.put("rope_theta", config.ropeTheta());
    fields.put("tie_word_embeddings", config.tiedEmbeddings());
    fields.put("num_nextn_predict_layers", config.draftLayers());
    fields.put("torch_dtype", torchName(type));
    LatentConfig latent = config.latent();
    if (latent != null) {
      fields.put("kv_lora_rank", latent.kvLoraRank());
      fields.put("qk_rope_head_dim", latent.qkRopeHeadDim());
      fields.put("qk_nope_head_dim", latent.qkNopeHeadDim());
      fields.put("v_head_dim", latent.vHeadDim());
    }
    Files.writeString(file, Json.of(fields) + "\n", StandardCharsets.UTF_8);
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
