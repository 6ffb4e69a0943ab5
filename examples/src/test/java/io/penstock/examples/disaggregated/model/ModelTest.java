package io.penstock.examples.disaggregated.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.penstock.examples.disaggregated.tensors.ModelFileException;
import io.penstock.examples.disaggregated.tensors.SafetensorsFile;
import io.penstock.examples.disaggregated.tensors.StoredType;
import io.penstock.node.text.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.node.ObjectNode;

final class ModelTest {
  @TempDir
  private Path folder;

  @ParameterizedTest
  @CsvSource({"false", "true"})
  void writtenModel_isReadBackBitForBit(boolean latent) throws IOException {
    ModelConfig config = latent ? ModelConfig.tinyLatent() : ModelConfig.tiny();
    Model.write(config, 7, folder);

    Model read = Model.read(folder);

    assertThat(read.config()).isEqualTo(config);
    float[] x = Model.seeded(config, 7).embed(65);
    assertThat(read.embed(65)).containsExactly(x);
    assertThat(read.logits(x)).containsExactly(Model.seeded(config, 7).logits(x));
    assertThat(read.draftLogits(read.embedDraft(66, x)))
        .containsExactly(Model.seeded(config, 7).draftLogits(Model.seeded(config, 7).embedDraft(66, x)));
    assertThat(read.attention(config.layers()).query(x, 1, 3))
        .containsExactly(Model.seeded(config, 7).attention(config.layers()).query(x, 1, 3));
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
      value = {"hidden_act|\"gelu\"|hidden_act must be silu (was \"gelu\")",
        "rope_scaling|{\"factor\":8}|rope_scaling must be null (was {\"factor\":8})",
        "attention_bias|true|attention_bias must be false (was true)",
        "num_key_value_heads|3|num_attention_heads must be a multiple of num_key_value_heads, 3 (was 8)",
        "num_hidden_layers|\"4\"|num_hidden_layers must be an integer (was \"4\")",
        "num_attention_heads|0|num_attention_heads must be > 0 (was 0)",
        "num_hidden_layers|5000000000|num_hidden_layers must be an integer (was 5000000000)",
        "num_hidden_layers|2000|num_hidden_layers must be <= 1024 (was 2000)",
        "vocab_size|256|vocab_size must be >= 258 (was 256)",
        "rms_norm_eps|0|rms_norm_eps must be > 0 (was 0.0)", "rope_theta|[]|rope_theta must be a number (was [])",
        "num_nextn_predict_layers|2|draftLayers must be 0 or 1 (was 2)",
        "kv_lora_rank|16|qk_rope_head_dim must be an integer (was )"})
  void configurationThatIsNotComputed_isRefusedByField(String field, String value, String rule) throws IOException {
    Model.write(ModelConfig.tiny(), 7, folder);
    Path file = folder.resolve("config.json");
    ObjectNode json = (ObjectNode) Json.MAPPER.readTree(Files.readString(file));
    json.set(field, Json.MAPPER.readTree(value));
    Files.writeString(file, json.toString());

    assertThatThrownBy(() -> Model.read(folder)).isInstanceOf(ModelFileException.class)
        .hasMessage(file + ": " + rule);
  }

  @ParameterizedTest
  @CsvSource({"not json", "[]", "{}", "7"})
  void otherFiles_areNoConfiguration(String text) throws IOException {
    Files.writeString(folder.resolve("config.json"), text);
    assertThatThrownBy(() -> Model.read(folder)).isInstanceOf(ModelFileException.class);
  }

  @Test
  void weightsOfAnotherModel_areRefusedByTensor() throws IOException {
    Model.write(ModelConfig.tinyLatent(), 7, folder);
    ConfigFile.write(ModelConfig.tiny(), StoredType.F32, folder.resolve("config.json"));
    assertThatThrownBy(() -> Model.read(folder)).isInstanceOf(ModelFileException.class)
        .hasMessageContaining("model.layers.0.self_attn.q_proj.weight must have the shape [64, 48] (was [96, 48])");
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
