package io.penstock.node.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.node.setting.Setting;
import io.penstock.node.shape.BlockShape;
import io.penstock.node.shape.LayoutSettings;
import io.penstock.node.shape.ModelPreset;
import io.penstock.node.text.Sizes;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;

final class StatedLayoutTest {
  static final List<ModelPreset> PRESETS = ModelPreset.ALL;

  @ParameterizedTest
  @CsvSource({"7, 56 KiB", "8, 64 KiB", "61, 488 KiB"})
  void layersAlone_makeTheSize(String layers, String size) {
    assertThat(Sizes.exact(stated("layers", layers).blockBytes())).isEqualTo(size);
  }

  @Test
  void dimensions_areTheLayout() {
    assertThat(stated("layers", "8", "kv.heads", "2", "head.dim", "64"))
        .isEqualTo(BlockLayout.attention(8, 16, 2, 64, ElementType.BF16));
    assertThat(
        stated("layers", "61", "latent.rank", "512", "rope.dim", "64", "block.tokens", "64", "dtype", "fp8_e4m3"))
        .isEqualTo(BlockLayout.latent(61, 64, 512, 64, ElementType.FP8_E4M3));
    assertThat(stated("order", "hnd").order()).isEqualTo(TokenOrder.HND);
  }

  @Test
  void model_thatIsKnown_hasItsLayout_whichDimensionsChange() {
    assertThat(stated("model", "llama-3.1-8b")).isEqualTo(BlockLayout.attention(32, 16, 8, 128, ElementType.BF16));
    assertThat(stated("model", "deepseek-v3")).isEqualTo(BlockLayout.latent(61, 16, 512, 64, ElementType.BF16));
    assertThat(stated("model", "llama-3.1-8b", "kv.heads", "4", "dtype", "int8"))
        .isEqualTo(BlockLayout.attention(32, 16, 4, 128, ElementType.INT8));
    assertThat(stated("model", "my-model")).isEqualTo(BlockShape.defaults().layout());
  }

  @ParameterizedTest
  @CsvSource({"64 KiB, 16", "256 B, 8", "32 B, 1"})
  void size_hasAsManyTokensAsFit(String size, int tokens) {
    assertThat(stated("block.bytes", size)).isEqualTo(new BlockShape((int) Sizes.parseBytes(size), 8, tokens).layout());
  }

  @ParameterizedTest
  @FieldSource("PRESETS")
  void flagsOfASpace_stateItToAnotherProcess(ModelPreset preset) {
    CacheSpace space = CacheSpace.of(preset.name(), preset.layout().withOrder(TokenOrder.HND));
    List<String> flags = LayoutSettings.flags(space);
    Map<Setting<?>, String> given = new HashMap<>();
    for (int i = 0; i < flags.size(); i += 2) {
      String flag = flags.get(i);
      given.put(LayoutSettings.ALL.stream().filter(setting -> setting.flag().equals(flag)).findFirst().orElseThrow(),
          flags.get(i + 1));
    }

    assertThat(NodeConfig.resolve(null, Map.of(), given).space()).isEqualTo(space);
  }

  @Test
  void words_areTheProduct() {
    assertThat(LayoutSettings.words(stated("model", "deepseek-v3")))
        .isEqualTo("1098 KiB = 61 layers x 16 tokens x (latent 1x512 + rope 1x64) x bf16, nhd");
  }

  private static BlockLayout stated(String... settings) {
    Map<Setting<?>, String> given = new HashMap<>();
    for (int i = 0; i < settings.length; i += 2) {
      given.put(NodeSettings.byKey(settings[i]).orElseThrow(), settings[i + 1]);
    }
    return NodeConfig.resolve(null, Map.of(), given).layout();
  }
}
