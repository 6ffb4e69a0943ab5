package io.penstock.node.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane;
import io.penstock.block.Plane.ElementType;
import io.penstock.node.setting.Setting;
import io.penstock.node.shape.BlockShape;
import io.penstock.node.shape.LayoutSettings;
import io.penstock.node.shape.ModelPreset;
import io.penstock.node.text.Sizes;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
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
    assertThat(stated("model", "gemma-3-27b", "kv.group", "sliding", "dtype", "fp8_e4m3"))
        .isEqualTo(BlockLayout.attention(52, 16, 16, 128, ElementType.FP8_E4M3));
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "model=acme | model must be one that `penstock models` lists, or come with its layout: layers with kv.heads and"
        + " head.dim, planes, kv.groups or block.bytes (was acme, from --model)",
    "model=llama-3.1-8 | (was llama-3.1-8, from --model; did you mean llama-3.1-8b?)",
    "model=acme,dtype=int8 | model must be one that",
    "kv.group=full | kv.group must be auto with a model that has no groups (was full, from --kv-group)",
    "model=gemma-3-27b,kv.group=ful | kv.group must be one of full, sliding (was ful, from --kv-group)",
    "model=gemma-3-27b,kv.heads=8 | kv.heads must be auto with model gemma-3-27b from --model (was 8, from --kv-heads)",
    "model=gemma-3-27b,layers=8 | layers must be auto with model gemma-3-27b from --model (was 8, from --layers)",
    "model=gemma-3-27b,block.bytes=1MiB | block.bytes must be auto with model gemma-3-27b",
    "model=deepseek-v3.2,dtype=int8 | dtype must be left out with model deepseek-v3.2 from --model, which states",
    "model=deepseek-v3.2,head.dim=64 | head.dim must be auto with model deepseek-v3.2",
    "planes=key 1x8 + value 1x8,kv.heads=2 | kv.heads must be auto with planes key 1x8 + value 1x8 from --planes",
    "block.bytes=64KiB,planes=key 1x8 | planes must be auto with block.bytes 64 KiB from --block-bytes",
    "block.bytes=64KiB,kv.heads=8 | kv.heads must be auto with block.bytes 64 KiB",
    "planes=keys 1x8 | planes must be tensors of a layer such as",
    "planes=key 1x0 | planes must be tensors of a layer such as",
    "kv.groups=a: 2 layers | kv.groups must be groups such as",
    "model=qwen3-next-80b-a3b,block.tokens=48 | block.tokens must divide 512, the tokens from one state of group state to"
        + " the next (was 48, from --block-tokens)"})
  void layoutThatIsNone_isRefusedByItsSetting(String settings, String problem) {
    assertThatThrownBy(() -> config(settings)).isInstanceOf(ConfigException.class)
        .hasMessageContaining(problem);
  }

  @Test
  void groupsWithALayerOrANameInCommon_areRefused() {
    for (String groups : List.of("a: layers 0-2, key 1x8; b: layers 2-3, key 1x8", "a: 1 layer, key 1x8; a: 1 layer,"
        + " key 1x8", "a: layers 3 1, key 1x8", "a: layers 0-4/0, key 1x8", "a: 2 layers, window 0, key 1x8")) {
      assertThatThrownBy(() -> resolved("model", "acme", "kv.groups", groups)).as(groups)
          .hasMessageContaining("kv.groups must be groups such as");
    }
  }

  @Test
  void planes_areTheLayout_eachWithItsOwnType() {
    assertThat(stated("model", "mimo", "layers", "4", "planes", "key 8x192 + value 8x128 fp8_e4m3").planes())
        .containsExactly(new Plane(Plane.Kind.KEY, ElementType.BF16, 8, 192),
            new Plane(Plane.Kind.VALUE, ElementType.FP8_E4M3, 8, 128));
    assertThat(LayoutSettings.words(stated("model", "deepseek-v3.2", "block.tokens", "64"))).isEqualTo(
        "3076352 B = 61 layers x 64 tokens x (latent 1x512 fp8_e4m3 + scales 1x4 fp32 + rope 1x64 bf16"
            + " + indexer 1x128 fp8_e4m3 + scales 1x1 fp32), nhd");
  }

  @Test
  void groups_haveASpaceEach_whoseIdsDifferByAllThatMakesEqualHashesMeanOtherBytes() {
    List<SpaceSettings> spaces = resolved("model", "gemma-3-27b").spaces();
    assertThat(spaces).extracting(SpaceSettings::name).containsExactly("full", "sliding");
    assertThat(spaces).extracting(space -> space.space().group().windowTokens()).containsExactly(0, 1024);
    assertThat(spaces).extracting(space -> Math.round(space.weight() * 1000)).containsExactly(161L, 839L);
    assertThat(resolved("model", "gemma-3-27b", "kv.group", "sliding").space())
        .isEqualTo(spaces.get(1).space());
    assertThat(Stream.of("1024", "2048").map(window -> "a: 2 layers, window " + window + ", key 1x8")
        .map(groups -> resolved("model", "acme", "kv.groups", groups).space().id())).doesNotHaveDuplicates();
    assertThat(Stream.of("2 layers", "layers 0-1", "layers 2-3").map(layers -> "a: " + layers + ", key 1x8")
        .map(groups -> resolved("model", "acme", "kv.groups", groups).space().id())).doesNotHaveDuplicates();
  }

  @Test
  void clientOfAGroupedModel_statesWhichGroup() {
    assertThatThrownBy(() -> resolved("model", "gpt-oss-20b").ofOneGroup()).hasMessageContaining(
        "kv.group must be one of full, sliding with model gpt-oss-20b from --model, each of which has blocks of its own");
    assertThat(resolved("model", "gpt-oss-20b").groups()).hasSize(2);
  }

  @ParameterizedTest
  @CsvSource({"64 KiB, 16", "256 B, 8", "32 B, 1"})
  void size_hasAsManyTokensAsFit(String size, int tokens) {
    assertThat(stated("block.bytes", size)).isEqualTo(new BlockShape((int) Sizes.parseBytes(size), 8, tokens).layout());
  }

  @ParameterizedTest
  @FieldSource("PRESETS")
  void flagsOfASpace_stateItToAnotherProcess(ModelPreset preset) {
    CacheSpace space = CacheSpace.of("another", preset.layout().withOrder(TokenOrder.HND));
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

  private static NodeConfig config(String settings) {
    return resolved(Stream.of(settings.split(",")).flatMap(one -> Stream.of(one.split("=", 2))).toArray(String[]::new));
  }

  private static BlockLayout stated(String... settings) {
    return resolved(settings).layout();
  }

  private static NodeConfig resolved(String... settings) {
    Map<Setting<?>, String> given = new HashMap<>();
    for (int i = 0; i < settings.length; i += 2) {
      given.put(NodeSettings.byKey(settings[i]).orElseThrow(), settings[i + 1]);
    }
    return NodeConfig.resolve(null, Map.of(), given);
  }
}
