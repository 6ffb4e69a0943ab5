package io.penstock.node.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.config.NodeConfig;
import io.penstock.node.setting.Setting;
import io.penstock.node.shape.LayoutSettings;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// When a node tells that its layout is the default.
final class DefaultLayoutTest {
  private static Optional<String> note(Map<Setting<?>, String> flags) {
    return DefaultLayout.note(NodeConfig.resolve(null, Map.of(), flags));
  }

  @Test
  void unknownModel_withoutDimensions_isTold_withTheNearestName() {
    assertThat(note(Map.of(LayoutSettings.MODEL, "llama-9")))
        .hasValue("llama-9 is not in `penstock models`; the layout is the default");
    assertThat(note(Map.of(LayoutSettings.MODEL, "llama-3.1-8")))
        .hasValue("llama-3.1-8 is not in `penstock models`; the layout is the default; did you mean llama-3.1-8b?");
  }

  @Test
  void layoutByDimensions_isNot() {
    assertThat(note(Map.of())).isEmpty();
    assertThat(note(Map.of(LayoutSettings.MODEL, "llama-3.1-8b"))).isEmpty();
    assertThat(note(Map.of(LayoutSettings.MODEL, "llama-9", LayoutSettings.KV_HEADS, "8"))).isEmpty();
    assertThat(note(Map.of(LayoutSettings.MODEL, "llama-9", LayoutSettings.BLOCK_BYTES, "64KiB"))).isEmpty();
  }
}
