package io.penstock.node.serve;

import io.penstock.node.config.NodeConfig;
import io.penstock.node.setting.Setting;
import io.penstock.node.shape.LayoutSettings;
import io.penstock.node.shape.ModelPreset;
import io.penstock.node.text.Nearest;
import io.penstock.node.text.Reason;
import java.util.List;
import java.util.Optional;

/// Reports a model that has the default layout because neither a preset nor a setting states another.
final class DefaultLayout {
  private static final List<Setting<?>> DIMENSIONS = List.of(LayoutSettings.LAYERS, LayoutSettings.KV_HEADS,
      LayoutSettings.HEAD_DIM, LayoutSettings.LATENT_RANK, LayoutSettings.ROPE_DIM, LayoutSettings.BLOCK_BYTES);

  private DefaultLayout() {}

  /// A line for people, with the nearest name of a preset; empty where the options give the layout or name no model.
  static Optional<String> note(NodeConfig settings) {
    String model = settings.get(LayoutSettings.MODEL);
    return isNamed(model) && DIMENSIONS.stream().noneMatch(each -> settings.effective(each).isGiven())
        ? Optional.of("%s is not in `penstock models`; the layout is the default%s".formatted(Reason.printable(model),
            meant(model)))
        : Optional.empty();
  }

  private static boolean isNamed(String model) {
    return !model.equals(LayoutSettings.MODEL.initial()) && ModelPreset.of(model).isEmpty();
  }

  private static String meant(String model) {
    return Nearest.of(model, ModelPreset.ALL.stream().map(ModelPreset::name).toList()).stream().findFirst()
        .map(name -> "; did you mean " + name + "?").orElse("");
  }
}
