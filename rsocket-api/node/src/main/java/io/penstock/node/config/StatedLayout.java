package io.penstock.node.config;

import static io.penstock.node.shape.LayoutSettings.BLOCK_BYTES;
import static io.penstock.node.shape.LayoutSettings.BLOCK_TOKENS;
import static io.penstock.node.shape.LayoutSettings.DTYPE;
import static io.penstock.node.shape.LayoutSettings.GROUP;
import static io.penstock.node.shape.LayoutSettings.GROUPS;
import static io.penstock.node.shape.LayoutSettings.HEAD_DIM;
import static io.penstock.node.shape.LayoutSettings.KV_HEADS;
import static io.penstock.node.shape.LayoutSettings.LATENT_RANK;
import static io.penstock.node.shape.LayoutSettings.LAYERS;
import static io.penstock.node.shape.LayoutSettings.MODEL;
import static io.penstock.node.shape.LayoutSettings.ORDER;
import static io.penstock.node.shape.LayoutSettings.PLANES;
import static io.penstock.node.shape.LayoutSettings.ROPE_DIM;

import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.node.setting.Setting;
import io.penstock.node.shape.BlockShape;
import io.penstock.node.shape.KvShape;
import io.penstock.node.shape.KvShape.Heads;
import io.penstock.node.shape.KvShape.Latent;
import io.penstock.node.shape.ModelGroup;
import io.penstock.node.shape.ModelPreset;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The layout that the [io.penstock.node.shape.LayoutSettings] of a configuration state together: from the model's
/// preset, from dimensions, from groups of layers, or from a size that stands for a model. Dimensions win over the
/// preset; groups and a size exclude both.
final class StatedLayout {
  private static final List<Setting<Optional<Integer>>> HEADS = List.of(KV_HEADS, HEAD_DIM);
  private static final List<Setting<Optional<Integer>>> LATENT = List.of(LATENT_RANK, ROPE_DIM);
  /// Settings that state the shape of a layer.
  private static final List<Setting<?>> SHAPE =
      Stream.<Setting<?>>concat(Stream.concat(HEADS.stream(), LATENT.stream()), Stream.of(PLANES)).toList();

  private final NodeConfig config;
  private final Optional<ModelPreset> preset;
  private final Optional<List<ModelGroup>> groups;

  private StatedLayout(NodeConfig config) {
    this.config = config;
    this.preset = ModelPreset.of(config.get(MODEL));
    this.groups = config.get(GROUPS).or(() -> preset.filter(ModelPreset::isGrouped).map(ModelPreset::groups));
  }

  /// Blocks of a group of layers.
  ///
  /// @param name of the group; empty for a model without groups
  record Blocks(String name, BlockLayout layout, CacheSpace.Group group) {
    int strideTokens() {
      return group.strideTokens(layout);
    }

    /// Bytes that are stored for each token of a prompt.
    double bytesPerToken() {
      return layout.blockBytes() / (double) strideTokens();
    }
  }

  /// The blocks of each group, or of the one that is chosen; of a model without groups its one kind of blocks.
  ///
  /// @throws IllegalArgumentException if [#require] finds problems
  static List<Blocks> blocks(NodeConfig config) {
    return new StatedLayout(config).blocks();
  }

  /// The largest of [#blocks].
  static Blocks largest(NodeConfig config) {
    return blocks(config).stream().max(Comparator.comparingInt(blocks -> blocks.layout().blockBytes())).orElseThrow();
  }

  /// Adds settings that no layout can have.
  static void require(NodeConfig config, List<String> problems) {
    StatedLayout stated = new StatedLayout(config);
    int before = problems.size();
    if (stated.isSized()) {
      stated.requireNoDimensions(problems);
    } else if (stated.groups.isPresent()) {
      stated.requireGroups(problems);
    } else {
      stated.requireOneShape(problems);
    }
    stated.requireChoice(problems);
    if (problems.size() == before) {
      stated.requireSize(problems);
    }
  }

  /// Adds the problem of a model that neither has a preset nor is described: a slip in its name would give it the
  /// layout of the demonstration.
  static void requireKnown(NodeConfig config, List<String> problems) {
    String model = config.get(MODEL);
    boolean isDescribed = Stream.concat(Stream.of(LAYERS, GROUPS, BLOCK_BYTES), SHAPE.stream()).anyMatch(config::states)
        || config.isOfValues();
    if (!model.equals(MODEL.initial()) && ModelPreset.of(model).isEmpty() && !isDescribed) {
      problems.add(("model must be one that `penstock models` lists, or come with its layout: layers with kv.heads and"
          + " head.dim, planes, kv.groups or block.bytes (%s%s)").formatted(config.was(MODEL),
              ModelPreset.meant(model).map(name -> "; did you mean " + name + "?").orElse("")));
    }
  }

  /// Adds the problem of a client that does not say which of several groups it means.
  static void requireOneGroup(NodeConfig config, List<String> problems) {
    List<Blocks> blocks = blocks(config);
    if (blocks.size() > 1) {
      problems.add("kv.group must be one of %s with %s, each of which has blocks of its own (%s)".formatted(
          blocks.stream().map(Blocks::name).collect(Collectors.joining(", ")),
          config.said(config.states(GROUPS) ? GROUPS : MODEL),
          config.was(GROUP)));
    }
  }

  private boolean isSized() {
    return config.get(BLOCK_BYTES).isPresent();
  }

  private void requireNoDimensions(List<String> problems) {
    preset.ifPresent(known -> problems.add("block.bytes must be auto with %s, which has a layout of its own (%s)"
        .formatted(config.said(MODEL), config.was(BLOCK_BYTES))));
    SHAPE.forEach(setting -> requireAuto(setting, BLOCK_BYTES, problems));
    requireAuto(GROUPS, BLOCK_BYTES, problems);
    if (config.get(DTYPE) != ElementType.BF16) {
      problems.add("dtype must be bf16 with %s (%s)".formatted(config.said(BLOCK_BYTES), config.was(DTYPE)));
    }
  }

  private void requireGroups(List<String> problems) {
    Setting<?> reason = config.states(GROUPS) ? GROUPS : MODEL;
    SHAPE.forEach(setting -> requireAuto(setting, reason, problems));
    requireAuto(LAYERS, reason, problems);
    int tokens = tokens();
    groups.orElseThrow().stream().filter(group -> group.stateTokens() % tokens != 0).forEach(group -> problems.add(
        "block.tokens must divide %d, the tokens from one state of group %s to the next (%s)".formatted(
            group.stateTokens(), group.name(), config.was(BLOCK_TOKENS))));
    requireUsedType(groups.orElseThrow().stream().map(ModelGroup::shape).toList(), reason, problems);
  }

  /// A type that no plane takes would change nothing.
  private void requireUsedType(List<KvShape> shapes, Setting<?> reason, List<String> problems) {
    if (config.states(DTYPE) && shapes.stream().flatMap(shape -> shape.planes().parts().stream())
        .allMatch(part -> part.type().isPresent())) {
      problems.add("dtype must be left out with %s, which states the type of each plane (%s)".formatted(
          config.said(reason), config.was(DTYPE)));
    }
  }

  private void requireChoice(List<String> problems) {
    config.get(GROUP).ifPresent(name -> {
      List<String> names = groups.stream().flatMap(List::stream).map(ModelGroup::name).toList();
      if (!names.contains(name)) {
        problems.add(names.isEmpty()
            ? "kv.group must be auto with a model that has no groups (%s)".formatted(config.was(GROUP))
            : "kv.group must be one of %s (%s)".formatted(String.join(", ", names), config.was(GROUP)));
      }
    });
  }

  /// Heads, a latent, or planes, whole.
  private void requireOneShape(List<String> problems) {
    if (isStated(PLANES)) {
      HEADS.forEach(setting -> requireAuto(setting, PLANES, problems));
      LATENT.forEach(setting -> requireAuto(setting, PLANES, problems));
      requireUsedType(List.of(config.get(PLANES).orElseThrow()), PLANES, problems);
      return;
    }
    if (preset.isPresent() && preset.orElseThrow().shape() instanceof KvShape.Planes planes) {
      HEADS.forEach(setting -> requireAuto(setting, MODEL, problems));
      LATENT.forEach(setting -> requireAuto(setting, MODEL, problems));
      requireUsedType(List.of(planes), MODEL, problems);
      return;
    }
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
      blocks();
    } catch (IllegalArgumentException e) {
      String problem = String.valueOf(e.getMessage());
      problems.add(isSized() ? problem.replaceFirst("\\(was \\d+\\)$", "(" + config.was(BLOCK_BYTES) + ")") : problem);
    }
  }

  private void requireAuto(Setting<?> setting, Setting<?> reason, List<String> problems) {
    if (isStated(setting)) {
      problems.add("%s must be auto with %s (%s)".formatted(setting.key(), config.said(reason), config.was(setting)));
    }
  }

  private boolean isStated(Setting<?> setting) {
    return config.get(setting) instanceof Optional<?> value && value.isPresent();
  }

  private List<Blocks> blocks() {
    if (groups.isEmpty() || isSized()) {
      return List.of(new Blocks("", layout(), CacheSpace.Group.of(0)));
    }
    List<Blocks> blocks = new ArrayList<>();
    for (ModelGroup group : groups.orElseThrow()) {
      BlockLayout layout = group.layout(tokens(), config.get(DTYPE));
      blocks.add(new Blocks(group.name(), group.stateTokens() > 0 ? layout : layout.withOrder(config.get(ORDER)),
          group.group(blocks.size())));
    }
    return config.get(GROUP).map(name -> blocks.stream().filter(one -> one.name().equals(name)).toList())
        .orElse(blocks);
  }

  private int tokens() {
    return config.get(BLOCK_TOKENS).orElse(BlockShape.DEFAULT_TOKENS);
  }

  private BlockLayout layout() {
    int layers = config.get(LAYERS)
        .orElseGet(() -> preset.map(ModelPreset::layers).orElse(BlockShape.DEFAULT_LAYERS));
    return config.get(BLOCK_BYTES).map(bytes -> sized(bytes, layers, config.get(BLOCK_TOKENS)))
        .orElseGet(() -> shape().layout(layers, tokens(), config.get(DTYPE))).withOrder(config.get(ORDER));
  }

  private static BlockLayout sized(int bytes, int layers, Optional<Integer> tokens) {
    return tokens.map(count -> new BlockShape(bytes, layers, count)).orElseGet(() -> BlockShape.of(bytes, layers))
        .layout();
  }

  private KvShape shape() {
    return config.get(PLANES).<KvShape>map(planes -> planes)
        .or(() -> known(KvShape.Planes.class))
        .orElseGet(() -> isLatent() ? latent() : heads());
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
