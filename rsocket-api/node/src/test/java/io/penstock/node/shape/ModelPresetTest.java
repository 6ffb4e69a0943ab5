package io.penstock.node.shape;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockLayout;
import io.penstock.block.Plane.ElementType;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;

/// The figures of known models, each calculated here by hand from the public configuration.
final class ModelPresetTest {
  static final List<ModelPreset> PRESETS = ModelPreset.ALL;

  private static ModelPreset preset(String name) {
    return ModelPreset.of(name).orElseThrow();
  }

  /// Bytes a token: layers x (key + value) x KV heads x head dimension x 2 bytes, for each group.
  @ParameterizedTest
  @CsvSource({
    "llama-3.1-8b, 32, 131072", // 32 x 2 x 8 x 128 x 2
    "llama-3.1-70b, 80, 327680",
    "qwen2.5-7b, 28, 57344",
    "gemma-2-9b, 42, 344064", // 42 x 2 x 8 x 256 x 2
    "gemma-3-4b, 34, 139264",
    "gemma-3-12b, 48, 393216",
    "gemma-3-27b, 62, 507904", // (10 + 52) x 2 x 16 x 128 x 2
    "gemma-4-31b, 60, 901120", // 10 x 2 x 4 x 512 x 2 + 50 x 2 x 16 x 256 x 2
    "gpt-oss-20b, 24, 49152", // 24 x 2 x 8 x 64 x 2
    "gpt-oss-120b, 36, 73728",
    "qwen3-next-80b-a3b, 48, 101760", // 12 x 2 x 2 x 256 x 2 + 36 x (32 x 768 + 32 x 16384) x 2 / 512
    "deepseek-v3, 61, 70272", // 61 x (512 + 64) x 2
    "deepseek-v3.2, 61, 48068" // 61 x (656 + 132)
  })
  void bytesOfAToken_areThoseOfTheConfiguration(String name, int layers, long bytes) {
    assertThat(preset(name).layers()).isEqualTo(layers);
    assertThat(preset(name).bytesPerToken(ElementType.BF16)).isEqualTo(bytes);
  }

  /// Numbers of layers as `layer_types` of each configuration lists them.
  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "gemma-2-9b         | full | layers 1-41/2 | 0",
    "gemma-2-9b         | sliding | layers 0-40/2 | 4096",
    "gemma-3-27b        | full | layers 5-59/6 | 0",
    "gemma-3-27b        | sliding | layers 0-4 6-10 12-16 18-22 24-28 30-34 36-40 42-46 48-52 54-58 60-61 | 1024",
    "gemma-4-31b        | full | layers 5-59/6 | 0",
    "gpt-oss-20b        | sliding | layers 0-22/2 | 128",
    "qwen3-next-80b-a3b | full | layers 3-47/4 | 0"})
  void groups_haveTheLayersOfTheConfiguration(String name, String group, String layers, int window) {
    ModelGroup found =
        preset(name).groups().stream().filter(each -> each.name().equals(group)).findFirst().orElseThrow();
    assertThat(found.layers()).hasToString(layers);
    assertThat(found.windowTokens()).isEqualTo(window);
  }

  @Test
  void deepSeekV32_has656BytesATokenAndLayer_and132OfItsIndexer() {
    BlockLayout token = preset("deepseek-v3.2").groups().getFirst().layout(1, ElementType.BF16);
    assertThat(token.planeBytes(0) + token.planeBytes(1) + token.planeBytes(2)).isEqualTo(656);
    assertThat(token.planeBytes(3) + token.planeBytes(4)).isEqualTo(132);
  }

  @Test
  void gemma4_hasTwoHeadSizes() {
    assertThat(preset("gemma-4-31b").groups()).extracting(group -> group.shape().planes().toString())
        .containsExactly("key 4x512 + value 4x512", "key 16x256 + value 16x256");
  }

  /// 36 layers of 3 inputs x 8192 channels and 32 matrices of 128 x 128, in two bytes.
  @Test
  void stateOfQwen3Next_isOneBlockEvery512Tokens() {
    ModelGroup state = preset("qwen3-next-80b-a3b").groups().get(1);
    assertThat(state.strideTokens(16)).isEqualTo(512);
    assertThat(state.layout(16, ElementType.BF16).tokens()).isEqualTo(1);
    assertThat(state.layout(16, ElementType.BF16).blockBytes()).isEqualTo(36 * (3 * 8192 + 32 * 128 * 128) * 2);
  }

  @ParameterizedTest
  @FieldSource("PRESETS")
  void textOfGroups_isReadAsItIsWritten(ModelPreset preset) {
    List<ModelGroup> read = ModelGroup.parse(preset.kvGroups());
    assertThat(ModelGroup.text(read)).isEqualTo(preset.kvGroups());
    assertThat(read).extracting(group -> group.layout(16, ElementType.BF16))
        .isEqualTo(preset.groups().stream().map(group -> group.layout(16, ElementType.BF16)).toList());
    assertThat(read).extracting(ModelGroup::layers)
        .isEqualTo(preset.groups().stream().map(ModelGroup::layers).toList());
  }

  @Test
  void meant_isANearNameOnly() {
    assertThat(ModelPreset.meant("lama-3.1-8b")).hasValue("llama-3.1-8b");
    assertThat(ModelPreset.meant("llama3.1-8b")).hasValue("llama-3.1-8b");
    assertThat(ModelPreset.meant("acme-chat")).isEmpty();
  }
}
