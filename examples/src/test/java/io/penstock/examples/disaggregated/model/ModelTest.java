package io.penstock.examples.disaggregated.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.penstock.examples.disaggregated.model.RotaryConfig.Scaling;
import io.penstock.examples.disaggregated.tensors.ModelFileException;
import io.penstock.examples.disaggregated.tensors.SafetensorsFile;
import io.penstock.examples.disaggregated.tensors.SafetensorsWriter;
import io.penstock.examples.disaggregated.tensors.SeededTensors;
import io.penstock.examples.disaggregated.tensors.StoredType;
import io.penstock.node.text.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.ObjectNode;

final class ModelTest {
  private static final String SLIDING =
      "[\"sliding_attention\",\"full_attention\",\"full_attention\",\"full_attention\"]";

  @TempDir
  private Path folder;

  @ParameterizedTest
  @CsvSource({"false", "true"})
  void writtenModel_isReadBackBitForBit(boolean latent) throws IOException {
    ModelConfig config = latent ? ModelConfig.tinyLatent() : ModelConfig.tiny();
    Model.write(config, 7, folder);

    Model read = Model.read(folder);

    assertThat(read.config()).isEqualTo(config);
    assertThat(read.digest()).isEqualTo(Model.seeded(config, 7).digest())
        .isNotEqualTo(Model.seeded(config, 8).digest());
    ModelShard whole = whole(Model.seeded(config, 7));
    float[] x = whole.embed(65);
    assertThat(whole(read).embed(65)).containsExactly(x);
    assertThat(whole(read).logits(x)).containsExactly(whole.logits(x));
    assertThat(whole(read).draftLogits(whole(read).draftInput(x, x)))
        .containsExactly(whole.draftLogits(whole.draftInput(x, x)));
    assertThat(whole(read).attention(config.layers()).query(x, 1, 3))
        .containsExactly(whole.attention(config.layers()).query(x, 1, 3));
  }

  private static ModelShard whole(Model model) {
    ModelConfig config = model.config();
    return model.load(List.of(new ModelPart(0, config.cachedLayers(), 0, config.kvHeads(), 0, 1))).getFirst();
  }

  static List<ModelConfig> everyFamily() {
    Scaling llama3 = new Scaling(8, 1, 4, 8192);
    ModelConfig tiny = ModelConfig.tiny();
    return Stream.of(ModelFamily.values()).map(family -> {
      boolean has = family.choosesAttentionBias() || family == ModelFamily.QWEN2;
      List<Integer> windows = switch (family) {
        case MISTRAL, PHI3 -> List.of(9, 9, 9, 9);
        case QWEN2, QWEN3 -> List.of(0, 9, 0, 9);
        default -> List.of();
      };
      RotaryConfig rotary =
          new RotaryConfig(7, family.turnsPartly() ? 4 : 8, family == ModelFamily.GLM, llama3);
      return family == ModelFamily.DEEPSEEK_V3
          ? ModelConfig.tinyLatent()
          : new ModelConfig(family, 48, 4, 8, 4, 8, 96, 258, 512, 1e-5f, rotary, has, family == ModelFamily.LLAMA,
              windows, true, null, 1);
    }).peek(config -> assertThat(config).isNotEqualTo(tiny)).toList();
  }

  @ParameterizedTest
  @MethodSource("everyFamily")
  void configurationOfEveryFamily_isReadBack(ModelConfig config) throws IOException {
    Model.write(config, 7, folder);
    assertThat(Model.read(folder).config()).isEqualTo(config);
  }

  @Test
  void file_hasTheNamesOfLlama() throws IOException {
    Model.write(ModelConfig.tiny(), 7, StoredType.BF16, folder);
    try (SafetensorsFile file = SafetensorsFile.open(folder.resolve("model.safetensors"))) {
      assertThat(file.names()).contains("model.embed_tokens.weight", "model.layers.0.input_layernorm.weight",
          "model.layers.3.self_attn.q_proj.weight", "model.layers.3.self_attn.k_proj.weight",
          "model.layers.3.self_attn.v_proj.weight", "model.layers.3.self_attn.o_proj.weight",
          "model.layers.3.post_attention_layernorm.weight", "model.layers.3.mlp.gate_proj.weight",
          "model.layers.3.mlp.up_proj.weight", "model.layers.3.mlp.down_proj.weight", "model.norm.weight",
          "lm_head.weight", "model.layers.4.eh_proj.weight", "model.layers.4.enorm.weight");
      assertThat(file.tensor("model.layers.3.self_attn.k_proj.weight", 32, 48)).hasSize(32 * 48);
    }
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|',
      textBlock = """
          hidden_act|"gelu"|hidden_act must be silu (was "gelu")
          attn_logit_softcapping|50.0|attn_logit_softcapping must be left out, @since (was 50.0)
          final_logit_softcapping|30.0|final_logit_softcapping must be left out, @since (was 30.0)
          embedding_multiplier|12|embedding_multiplier must be left out, @since (was 12)
          sliding_window|4096|sliding_window must be left out, @since (was 4096)
          rope_interleave|true|rope_interleave must be left out, @since (was true)
          no_rope_layers|[1]|no_rope_layers must be left out, @since (was [1])
          num_local_experts|8|num_local_experts must be left out, @since (was 8)
          quantization_config|{"a":1}|quantization_config must be left out, @since (was {"a":1})
          auto_map|{"a":"b"}|auto_map must be left out, @since (was {"a":"b"})
          layer_types|["sliding_attention"]|layer_types must be full_attention or sliding_attention for each of @4
          layer_types|@sliding|layer_types must be full_attention in each layer, as the other keys say (was @sliding)
          attention_bias|1|attention_bias must be true or false (was 1)
          torch_dtype|"float8_e4m3fn"|torch_dtype must be float32 or float16 or bfloat16 (was "float8_e4m3fn")
          architectures|["LlamaModel"]|architectures must be ["LlamaForCausalLM"] for @base
          model_type|"gemma2"|model_type must be llama, mistral, qwen2, qwen3, phi3, glm, deepseek_v3 (was "gemma2")
          model_type|null|model_type must be a text (was null)
          rope_parameters|{"rope_type":"yarn"}|rope_parameters.rope_type must be default, linear or llama3 (was "yarn")
          rope_parameters|{"rope_type":"default","beta":1}|rope_parameters.beta must be left out, @since (was 1)
          rope_parameters|{"rope_type":"linear"}|rope_parameters.factor must be a number (was left out)
          rope_parameters|{"full_attention":{}}|rope_parameters.type must be a text (was left out)
          rope_parameters|7|rope_parameters must be an object (was 7)
          rope_scaling|{"type":"linear","factor":8}|rope_scaling must be left out beside rope_parameters, or equal @f8
          rope_theta|5|rope_theta must be left out, or the same as in rope_parameters (was 5)
          partial_rotary_factor|0.5|partial_rotary_factor must be left out, or the same as in rope_parameters (was 0.5)
          num_key_value_heads|3|num_attention_heads must be a multiple of num_key_value_heads, 3 (was 8)
          num_hidden_layers|"4"|num_hidden_layers must be an integer (was "4")
          num_attention_heads|0|num_attention_heads must be > 0 (was 0)
          num_hidden_layers|5000000000|num_hidden_layers must be an integer (was 5000000000)
          num_hidden_layers|2000|num_hidden_layers must be <= 1024 (was 2000)
          vocab_size|256|vocab_size must be >= 258 (was 256)
          rms_norm_eps|0|rms_norm_eps must be > 0 (was 0.0)
          rms_norm_eps|null|rms_norm_eps must be a number (was null)
          num_nextn_predict_layers|2|draftLayers must be 0 or 1 (was 2)
          kv_lora_rank|16|kv_lora_rank must be left out, @since (was 16)
          """)
  void configurationThatIsNotComputed_isRefusedByField(String field, String value, String rule) throws IOException {
    Model.write(ModelConfig.tiny(), 7, folder);
    change(field, value);

    assertThatThrownBy(() -> Model.read(folder)).isInstanceOf(ModelFileException.class)
        .hasMessage(folder.resolve("config.json") + ": " + whole(rule));
  }

  private static String whole(String text) {
    return text.replace("@since", "since this key is not computed here").replace("@f8",
        "(was {\"type\":\"linear\",\"factor\":8})").replace("@sliding", SLIDING).replace("@4",
            "the 4 layers (was [\"sliding_attention\"])")
        .replace("@base", "this model_type (was [\"LlamaModel\"])");
  }

  private void change(String field, String value) throws IOException {
    Path file = folder.resolve("config.json");
    ObjectNode json = (ObjectNode) Json.MAPPER.readTree(Files.readString(file));
    json.set(field, Json.MAPPER.readTree(whole(value)));
    Files.writeString(file, json.toString());
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|',
      textBlock = """
          q_lora_rank|1536|q_lora_rank must be left out, since this key is not computed here (was 1536)
          first_k_dense_replace|3|first_k_dense_replace must be >= the 5 layers, since experts are not computed here @3
          rms_norm_eps|1e-5|rms_norm_eps must be 1.0E-6 with latent attention, since implementations @differ
          num_key_value_heads|1|num_key_value_heads must be 8 (was 1)
          kv_lora_rank|null|kv_lora_rank must be an integer (was null)
          rope_parameters|{"type":"yarn","rope_theta":9}|rope_parameters.type must be default, linear or llama3
          """)
  void latentConfigurationThatIsNotComputed_isRefusedByField(String field, String value, String rule)
      throws IOException {
    Model.write(ModelConfig.tinyLatent(), 7, folder);
    change(field, value);

    assertThatThrownBy(() -> Model.read(folder)).isInstanceOf(ModelFileException.class)
        .hasMessageContaining(
            rule.replace("@3", "(was 3)").replace("@differ", "differ about other values (was 1.0E-5)"));
  }

  /// What has another default in another version, or in another family, is not guessed.
  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {"MISTRAL|sliding_window|a number of tokens, or null",
    "QWEN3|head_dim|an integer", "QWEN2|num_key_value_heads|an integer", "GLM|rope_parameters|a number",
    "DEEPSEEK_V3|q_lora_rank|null, since queries of low rank are not computed here"})
  void keyWhoseDefaultDiffers_mustBeThere(ModelFamily family, String field, String rule) throws IOException {
    Model.write(everyFamily().get(family.ordinal()), 7, folder);
    Path file = folder.resolve("config.json");
    ObjectNode json = (ObjectNode) Json.MAPPER.readTree(Files.readString(file));
    json.remove(field);
    Files.writeString(file, json.toString());

    assertThatThrownBy(() -> Model.read(folder)).isInstanceOf(ModelFileException.class)
        .hasMessageEndingWith(" must be " + rule + " (was left out)");
  }

  @Test
  void keysThatChangeNothing_andNulls_areTaken() throws IOException {
    Model.write(ModelConfig.tiny(), 7, folder);
    change("transformers_version", "\"4.57.1\"");
    change("attention_dropout", "0.1");
    change("pad_token_id", "7");
    change("sliding_window", "null");
    change("final_logit_softcapping", "null");
    change("layer_types", "[\"full_attention\",\"full_attention\",\"full_attention\",\"full_attention\"]");
    assertThat(Model.read(folder).config()).isEqualTo(ModelConfig.tiny());
  }

  @Test
  void repeatedKeys_areRefused() throws IOException {
    Model.write(ModelConfig.tiny(), 7, folder);
    Path file = folder.resolve("config.json");
    Files.writeString(file, Files.readString(file).replaceFirst("\\{", "{\"vocab_size\":9,"));
    assertThatThrownBy(() -> Model.read(folder)).isInstanceOf(ModelFileException.class)
        .hasMessageContaining("file must be JSON without repeated names: ");
  }

  /// Writes the tiny model and some tensors beside its own.
  ///
  /// @param copied name of a tensor that `extra` is a copy of; null for numbers of its own
  private void writeWith(boolean tied, String extra, @Nullable String copied, int... shape) throws IOException {
    ModelConfig tiny = ModelConfig.tiny();
    ModelConfig config = new ModelConfig(tiny.family(), 48, 4, 8, 4, 8, 96, 258, 512, 1e-5f, tiny.rotary(), false,
        false, List.of(), tied, null, 1);
    Model.write(config, 7, folder);
    SeededTensors seeded = new SeededTensors(7);
    SafetensorsWriter writer = new SafetensorsWriter(
        (name, wanted) -> seeded.tensor(name.equals(extra) && copied != null ? copied : name, wanted), StoredType.F32);
    for (Map.Entry<String, int[]> tensor : TensorShapes.of(config).entrySet()) {
      writer.tensor(tensor.getKey(), tensor.getValue());
    }
    writer.tensor(extra, shape);
    writer.write(folder.resolve("model.safetensors"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"model.layers.0.self_attn.q_proj.bias", "model.layers.3.self_attn.q_norm.weight",
    "model.layers.5.input_layernorm.weight", "model.layers.0.mlp.experts.0.gate_proj.weight", "lm_head.bias"})
  void tensorThatIsNotComputed_isRefusedByName(String name) throws IOException {
    writeWith(false, name, null, 8);
    assertThatThrownBy(() -> Model.read(folder)).isInstanceOf(ModelFileException.class).hasMessage(folder + ": tensor "
        + name + " must not be there, since a llama model with this config.json has no such tensor");
  }

  @Test
  void rotaryAnglesAndCopies_changeNothing() throws IOException {
    writeWith(false, "model.layers.0.self_attn.rotary_emb.inv_freq", null, 4);
    assertThat(Model.read(folder).digest()).isEqualTo(Model.seeded(ModelConfig.tiny(), 7).digest());

    writeWith(false, "model.layers.4.shared_head.head.weight", "lm_head.weight", 258, 48);
    assertThat(Model.read(folder).config()).isEqualTo(ModelConfig.tiny());

    writeWith(true, "lm_head.weight", "model.embed_tokens.weight", 258, 48);
    assertThat(Model.read(folder).config().tiedEmbeddings()).isTrue();

    writeWith(true, "lm_head.weight", null, 258, 48);
    assertThatThrownBy(() -> Model.read(folder)).isInstanceOf(ModelFileException.class).hasMessage(
        folder + ": tensor lm_head.weight must be a copy of model.embed_tokens.weight (differs in row 0)");
  }

  @ParameterizedTest
  @CsvSource({"not json", "[]", "{}", "7"})
  void otherFiles_areNoConfiguration(String text) throws IOException {
    Files.writeString(folder.resolve("config.json"), text);
    assertThatThrownBy(() -> Model.read(folder)).isInstanceOf(ModelFileException.class);
  }

  @Test
  void weightsOfAnotherModel_areRefusedByTensor() throws IOException {
    Model.write(ModelConfig.tiny(), 7, folder);
    change("num_attention_heads", "16");
    assertThatThrownBy(() -> Model.read(folder)).isInstanceOf(ModelFileException.class)
        .hasMessageContaining("model.layers.0.self_attn.q_proj.weight must have the shape [128, 48] (was [64, 48])");

    Model.write(ModelConfig.tinyLatent(), 7, folder);
    ConfigWriter.write(ModelConfig.tiny(), StoredType.F32, folder.resolve("config.json"));
    assertThatThrownBy(() -> Model.read(folder)).isInstanceOf(ModelFileException.class)
        .hasMessageContaining("tensor model.layers.0.self_attn.kv_a_layernorm.weight must not be there");
  }

  @Test
  void exponential_isThatOfTheLibraryButForTheLastBits() {
    for (float x = -86; x < 87; x += 0.0137f) {
      assertThat(Exponential.of(x) / StrictMath.exp(x)).as("exp(%s)", x).isEqualTo(1, within(0x1p-22));
    }
    assertThat(Exponential.of(0)).isEqualTo(1);
    assertThat(Exponential.of(Float.NEGATIVE_INFINITY)).isZero();
  }

  @Test
  void tokenizer_givesTextBack() {
    int[] tokens = ByteTokenizer.encode("Wärme");
    assertThat(tokens).hasSize(7).startsWith(256, 'W', 0xC3);
    assertThat(ByteTokenizer.decode(List.of(256, (int) 'W', 0xC3, 0xA4, 257))).isEqualTo("Wä");
  }
}
