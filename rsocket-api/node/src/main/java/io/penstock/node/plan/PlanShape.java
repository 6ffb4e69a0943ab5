package io.penstock.node.plan;

import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.Plane.ElementType;
import io.penstock.disagg.plan.Manifest.Group;
import io.penstock.node.shape.KvShape;
import io.penstock.node.shape.KvShape.Heads;
import io.penstock.node.shape.KvShape.Latent;
import io.penstock.node.shape.ModelGroup;
import io.penstock.node.shape.ModelPreset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// The shape of the blocks of one side of a plan: from the fields of a group, of the side and of the model, and from
/// the preset that the model's name is.
///
/// @param side fields of a side; those of a shape stand before those of the model
/// @param model fields of the model
record PlanShape(Fields side, Fields model) {
  private static final int HEAD_DIM = 128;
  private static final int ROPE_DIM = 64;
  /// Fields of a shape. Beside a name they take the place of the preset's.
  private static final List<String> SHAPE =
      List.of("kvHeads", "headDim", "valueDim", "latentRank", "ropeDim", "planes", "windowTokens");

  /// The groups of a model that does not list them: those of its preset, or one that has all layers.
  List<Group> ofModel() {
    int draft = either("draftLayers").count("draftLayers", 0);
    Optional<ModelPreset> preset = preset();
    boolean isStated = Stream.of(side, model).anyMatch(PlanShape::hasShape) || either("layers").has("layers");
    if (preset.isPresent() && !isStated) {
      return ofPreset(preset.orElseThrow().groups(), draft);
    }
    if (preset.isEmpty() && !isStated && either("name").has("name")) {
      String name = either("name").text("name");
      throw either("name").refused("name", unknown(name) + ", or layers and a shape must be given", name);
    }
    if (preset.isPresent() && preset.orElseThrow().groups().size() > 1) {
      String stated = Stream.concat(SHAPE.stream(), Stream.of("layers")).filter(name -> either(name).has(name))
          .findFirst().orElseThrow();
      throw either(stated).refused(stated,
          "must be left out with a model of several groups, or groups must state all of them",
          either(stated).any(stated));
    }
    int layers = Math.addExact(
        preset.isPresent() && !either("layers").has("layers")
            ? preset.orElseThrow().layers()
            : either("layers").positive("layers"),
        draft);
    return List.of(new Group(layout(model, layers, false), IntStream.range(0, layers).boxed().toList(),
        model.tokens("windowTokens", 0)));
  }

  /// Layers of a draft model have full attention, as those of the first group.
  private List<Group> ofPreset(List<ModelGroup> groups, int draft) {
    int layers = groups.stream().mapToInt(group -> group.layers().count()).sum();
    List<Group> all = new ArrayList<>();
    for (ModelGroup group : groups) {
      List<Integer> numbers = new ArrayList<>(group.layers().numbers());
      if (all.isEmpty()) {
        IntStream.range(layers, layers + draft).forEach(numbers::add);
      }
      boolean isState = group.stateTokens() > 0;
      all.add(new Group(layout(group.shape(), numbers.size(), isState), numbers, group.windowTokens(), isState));
    }
    return all;
  }

  /// A group that the model lists.
  ///
  /// @param layers of the group
  Group ofGroup(Fields group, List<Integer> layers) {
    boolean isState = group.has("state") && group.flag("state");
    if (isState && group.has("windowTokens")) {
      throw group.refused("windowTokens", "must be left out with state", group.any("windowTokens"));
    }
    return new Group(layout(group, layers.size(), isState), layers, group.tokens("windowTokens", 0), isState);
  }

  /// The rule that an unknown name of a model breaks.
  static String unknown(String name) {
    return "must be a model that `penstock models` lists"
        + ModelPreset.meant(name).map(meant -> ", such as " + meant).orElse("");
  }

  private Fields either(String name) {
    return side.has(name) ? side : model;
  }

  private Optional<ModelPreset> preset() {
    return either("name").has("name") ? ModelPreset.of(either("name").text("name")) : Optional.empty();
  }

  private static boolean hasShape(Fields fields) {
    return SHAPE.stream().anyMatch(fields::has);
  }

  /// @param shape fields of the group, which stand before those of the model
  private BlockLayout layout(Fields shape, int layers, boolean isState) {
    return layout(shape(shape), layers, isState);
  }

  private BlockLayout layout(KvShape shape, int layers, boolean isState) {
    ElementType type = one(ElementType.values(), either("type"), "type", "bf16");
    TokenOrder order = one(TokenOrder.values(), side, "order", "nhd");
    int tokens = side.positive("blockTokens", 16);
    return shape.layout(layers, isState ? 1 : tokens, type).withOrder(order);
  }

  private KvShape shape(Fields own) {
    Fields planes = own.has("planes") ? own : either("planes");
    if (own.has("planes") || (!own.has("kvHeads") && !own.has("latentRank") && planes.has("planes"))) {
      String text = planes.text("planes");
      return planes.parsed("planes", text, "tensors of a layer such as key 8x192 + value 8x128", KvShape.Planes::parse);
    }
    Optional<KvShape> known = preset().map(ModelPreset::shape);
    Fields latent = own.has("latentRank") ? own : either("latentRank");
    if (own.has("latentRank") || (!own.has("kvHeads") && latent.has("latentRank"))) {
      return new Latent(latent.positive("latentRank"), latent.positive("ropeDim", ROPE_DIM));
    }
    Fields heads = first(own, "kvHeads");
    if (!heads.has("kvHeads") && known.isPresent() && !(known.orElseThrow() instanceof Heads)) {
      return known.orElseThrow();
    }
    Optional<Heads> base = known.filter(Heads.class::isInstance).map(Heads.class::cast);
    int kvHeads =
        base.isPresent() ? heads.positive("kvHeads", base.orElseThrow().kvHeads()) : heads.positive("kvHeads");
    int width = first(own, "headDim").positive("headDim", base.map(Heads::headDim).orElse(HEAD_DIM));
    Fields value = first(own, "valueDim");
    return value.has("valueDim")
        ? KvShape.Planes.parse("key %dx%d + value %dx%d".formatted(kvHeads, width, kvHeads, value.positive("valueDim")))
        : new Heads(kvHeads, width);
  }

  /// The object that states `name`: the side, the group, or the model.
  private Fields first(Fields own, String name) {
    return side.has(name) ? side : own.has(name) ? own : model;
  }

  /// One of some words, in upper or lower case.
  private static <E extends Enum<E>> E one(E[] all, Fields fields, String name, String otherwise) {
    String text = fields.text(name, otherwise);
    return Arrays.stream(all).filter(each -> each.name().equalsIgnoreCase(text)).findFirst()
        .orElseThrow(() -> fields.refused(name, "must be one of " + Arrays.stream(all)
            .map(each -> each.name().toLowerCase(Locale.ROOT)).collect(Collectors.joining(", ")), text));
  }
}
