package io.penstock.node.config;

import static io.penstock.node.shape.LayoutSettings.BLOCK_BYTES;
import static io.penstock.node.shape.LayoutSettings.DTYPE;
import static io.penstock.node.shape.LayoutSettings.HEAD_DIM;
import static io.penstock.node.shape.LayoutSettings.KV_HEADS;
import static io.penstock.node.shape.LayoutSettings.LATENT_RANK;
import static io.penstock.node.shape.LayoutSettings.MODEL;
import static io.penstock.node.shape.LayoutSettings.ROPE_DIM;

import io.penstock.block.BlockLayout;
import io.penstock.block.Plane.ElementType;
import io.penstock.node.setting.Setting;
import io.penstock.node.shape.BlockShape;
import io.penstock.node.shape.KvShape;
import io.penstock.node.shape.KvShape.Heads;
import io.penstock.node.shape.KvShape.Latent;
import io.penstock.node.shape.LayoutSettings;
import io.penstock.node.shape.ModelPreset;
import java.util.List;
import java.util.Optional;

/// The layout that the [LayoutSettings] of a configuration state together: from the model's preset, from dimensions, or
/// from a size that stands for a model. Dimensions win over the preset; a size excludes both.
final class StatedLayout {
  private static final List<Setting<Optional<Integer>>> HEADS = List.of(KV_HEADS, HEAD_DIM);
  private static final List<Setting<Optional<Integer>>> LATENT = List.of(LATENT_RANK, ROPE_DIM);

  private final NodeConfig config;
  private final Optional<ModelPreset> preset;

  private StatedLayout(NodeConfig config) {
    this.config = config;
    this.preset = ModelPreset.of(config.get(MODEL));
  }

  /// @throws IllegalArgumentException if [#require] finds problems
  static BlockLayout of(NodeConfig config) {
    return new StatedLayout(config).layout();
  }

  /// Adds settings that no layout can have.
  static void require(NodeConfig config, List<String> problems) {
    StatedLayout stated = new StatedLayout(config);
    int before = problems.size();
    if (stated.isSized()) {
      stated.requireNoDimensions(problems);
    } else {
      stated.requireOneShape(problems);
    }
    if (problems.size() == before) {
      stated.requireSize(problems);
    }
  }

  private boolean isSized() {
    return config.get(BLOCK_BYTES).isPresent();
  }

  private void requireNoDimensions(List<String> problems) {
    preset.ifPresent(known -> problems.add("block.bytes must be auto with %s, which has a layout of its own (%s)"
        .formatted(config.said(MODEL), config.was(BLOCK_BYTES))));
    HEADS.forEach(setting -> requireAuto(setting, BLOCK_BYTES, problems));
    LATENT.forEach(setting -> requireAuto(setting, BLOCK_BYTES, problems));
    if (config.get(DTYPE) != ElementType.BF16) {
      problems.add("dtype must be bf16 with %s (%s)".formatted(config.said(BLOCK_BYTES), config.was(DTYPE)));
    }
  }

  /// Heads or a latent, whole.
  private void requireOneShape(List<String> problems) {
    if (isLatent()) {
      Setting<?> reason = isStated(LATENT_RANK) ? LATENT_RANK : isStated(ROPE_DIM) ? ROPE_DIM : MODEL;
      HEADS.forEach(setting -> requireAuto(setting, reason, problems));
      if (preset.isPresent() && !(preset.orElseThrow().shape() instanceof Latent)) {
        LATENT.forEach(setting -> requireAuto(setting, MODEL, problems));
      } else if (preset.isEmpty()) {
        LATENT.stream().filter(setting -> !isStated(setting)).forEach(setting -> problems.add(
            "%s must be given with %s (%s)".formatted(setting.key(), config.said(reason), config.was(setting))));
      }
    }
  }

  private boolean isLatent() {
    return LATENT.stream().anyMatch(this::isStated)
        || preset.filter(known -> known.shape() instanceof Latent).isPresent();
  }

  private void requireSize(List<String> problems) {
    try {
      layout();
    } catch (IllegalArgumentException e) {
      String problem = String.valueOf(e.getMessage());
      problems.add(isSized() ? problem.replaceFirst("\\(was \\d+\\)$", "(" + config.was(BLOCK_BYTES) + ")") : problem);
    }
  }

  private void requireAuto(Setting<Optional<Integer>> setting, Setting<?> reason, List<String> problems) {
    if (isStated(setting)) {
      problems.add("%s must be auto with %s (%s)".formatted(setting.key(), config.said(reason), config.was(setting)));
    }
  }

  private boolean isStated(Setting<Optional<Integer>> setting) {
    return config.get(setting).isPresent();
  }

  private BlockLayout layout() {
    int layers = config.get(LayoutSettings.LAYERS)
        .orElseGet(() -> preset.map(ModelPreset::layers).orElse(BlockShape.DEFAULT_LAYERS));
    Optional<Integer> tokens = config.get(LayoutSettings.BLOCK_TOKENS);
    return config.get(BLOCK_BYTES).map(bytes -> sized(bytes, layers, tokens))
        .orElseGet(() -> shape().layout(layers, tokens.orElse(BlockShape.DEFAULT_TOKENS), config.get(DTYPE)))
        .withOrder(config.get(LayoutSettings.ORDER));
  }

  private static BlockLayout sized(int bytes, int layers, Optional<Integer> tokens) {
    return tokens.map(count -> new BlockShape(bytes, layers, count)).orElseGet(() -> BlockShape.of(bytes, layers))
        .layout();
  }

  private KvShape shape() {
    return isLatent() ? latent() : heads();
  }

  private Latent latent() {
    Optional<Latent> known = known(Latent.class);
    return new Latent(config.get(LATENT_RANK).or(() -> known.map(Latent::rank)).orElseThrow(),
        config.get(ROPE_DIM).or(() -> known.map(Latent::ropeDim)).orElseThrow());
  }

  private Heads heads() {
    Heads known = known(Heads.class).orElse(KvShape.DEFAULT);
    return new Heads(config.get(KV_HEADS).orElse(known.kvHeads()), config.get(HEAD_DIM).orElse(known.headDim()));
  }

  private <S extends KvShape> Optional<S> known(Class<S> kind) {
    return preset.map(ModelPreset::shape).filter(kind::isInstance).map(kind::cast);
  }
}
