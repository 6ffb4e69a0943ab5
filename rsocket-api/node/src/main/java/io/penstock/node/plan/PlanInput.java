package io.penstock.node.plan;

import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.Plane;
import io.penstock.block.Plane.ElementType;
import io.penstock.disagg.plan.KvRequest;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Manifest.Group;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.plan.Planner;
import io.penstock.disagg.plan.TransferPlan;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/// Two manifests and a request, as the help of `penstock plan` shows them. Fields of the model may stand in a side,
/// too, where they count for that side alone.
final class PlanInput {
  private static final Set<String> SHAPE = Set.of("kvHeads", "headDim", "latentRank", "ropeDim", "windowTokens");
  private static final Set<String> GROUP = with(SHAPE, "layers");
  private static final Set<String> MODEL = with(SHAPE, "name", "layers", "draftLayers", "type", "groups");
  private static final Set<String> OF_A_SIDE =
      Set.of("name", "layers", "draftLayers", "type", "kvHeads", "headDim", "latentRank", "ropeDim");
  private static final Set<String> SIDE = with(OF_A_SIDE, "tp", "pp", "pcp", "dcp", "dp", "blockTokens", "order",
      "stageLayers");
  private static final Set<String> REQUEST = Set.of("id", "promptTokens", "cachedTokens");
  private static final Set<String> ALL = Set.of("model", "prefill", "decode", "request");

  private final Fields model;

  private PlanInput(Fields model) {
    this.model = model;
  }

  /// Whether this is meant as a plan's input: recorded cases have neither field.
  static boolean fits(JsonNode json) {
    return json.has("model") || json.has("request");
  }

  static TransferPlan plan(Case one) {
    Fields fields = one.fields();
    fields.refuseOthers(ALL);
    PlanInput input = new PlanInput(fields.at("model"));
    input.model.refuseOthers(MODEL);
    Manifest prefill = input.side(fields.at("prefill"));
    Manifest decode = input.side(fields.at("decode"));
    return new Planner(prefill, decode).plan(request(fields.at("request")));
  }

  private static KvRequest request(Fields request) {
    request.refuseOthers(REQUEST);
    int prompt = request.count("promptTokens");
    int cached = request.count("cachedTokens", 0);
    if (cached > prompt) {
      throw request.refused("cachedTokens", "must be <= promptTokens " + prompt, cached);
    }
    return new KvRequest(request.text("id"), prompt, cached);
  }

  private static Set<String> with(Set<String> names, String... more) {
    return Stream.concat(names.stream(), Stream.of(more)).collect(Collectors.toUnmodifiableSet());
  }

  private Manifest side(Fields side) {
    side.refuseOthers(SIDE);
    int draft = either(side, "draftLayers").count("draftLayers", 0);
    List<Group> groups = groups(side);
    Parallelism parallelism = parallelism(side);
    String name = either(side, "name").text("name", "model");
    if (draft > groups.stream().mapToInt(group -> group.layers().getLast() + 1).max().orElse(0)) {
      throw either(side, "draftLayers").refused("draftLayers", "must be <= the layers of all groups", draft);
    }
    Manifest even = Manifest.of(name, groups, parallelism, draft);
    return side.has("stageLayers")
        ? new Manifest(name, groups, parallelism,
            stageLayers(side, even.layers() - draft, parallelism.pp()), draft)
        : even;
  }

  private static Parallelism parallelism(Fields side) {
    int tp = side.positive("tp", 1);
    int pp = side.positive("pp", 1);
    int pcp = side.positive("pcp", 1);
    try {
      return new Parallelism(tp, pp, side.positive("dp", 1), pcp, side.positive("dcp", 1));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(side.path() + ": " + e.getMessage(), e);
    }
  }

  private static List<Integer> stageLayers(Fields side, int layers, int stages) {
    List<Integer> parts = side.integers("stageLayers");
    long sum = parts.stream().mapToLong(Integer::longValue).sum();
    if (parts.size() != stages || sum != layers || parts.stream().anyMatch(part -> part < 0)) {
      throw side.refused("stageLayers", "must be %d numbers >= 0, one a stage, that add up to the %d layers".formatted(
          stages, layers), parts);
    }
    return parts;
  }

  private Fields either(Fields side, String name) {
    return side.has(name) ? side : model;
  }

  private List<Group> groups(Fields side) {
    if (!model.has("groups")) {
      int layers = Math.addExact(either(side, "layers").positive("layers"),
          either(side, "draftLayers").count("draftLayers", 0));
      return List.of(new Group(layout(side, model, layers), IntStream.range(0, layers).boxed().toList(),
          model.count("windowTokens", 0)));
    }
    List<Fields> given = model.objects("groups");
    if (given.isEmpty()) {
      throw model.refused("groups", "must not be empty", given);
    }
    List<Group> groups = new ArrayList<>();
    for (Fields group : given) {
      group.refuseOthers(GROUP);
      List<Integer> layers = group.integers("layers");
      if (layers.isEmpty() || layers.getFirst() < 0
          || IntStream.range(1, layers.size()).anyMatch(i -> layers.get(i) <= layers.get(i - 1))) {
        throw group.refused("layers", "must be numbers of layers in ascending order", layers);
      }
      groups.add(new Group(layout(side, group, layers.size()), layers, group.count("windowTokens", 0)));
    }
    return groups;
  }

  /// @param shape fields of the group, which stand before those of the model
  private BlockLayout layout(Fields side, Fields shape, int layers) {
    ElementType elements = one(ElementType.values(), either(side, "type"), "type", "bf16");
    TokenOrder axes = one(TokenOrder.values(), side, "order", "nhd");
    int tokens = side.positive("blockTokens", 16);
    if (shape.has("latentRank") || (!shape.has("kvHeads") && either(side, "latentRank").has("latentRank"))) {
      Fields latent = shape.has("latentRank") ? shape : either(side, "latentRank");
      return BlockLayout.latent(layers, tokens, latent.positive("latentRank"), latent.positive("ropeDim", 64), elements)
          .withOrder(axes);
    }
    int heads = (side.has("kvHeads") ? side : shape.has("kvHeads") ? shape : model).positive("kvHeads");
    int width = (side.has("headDim") ? side : shape.has("headDim") ? shape : model).positive("headDim", 128);
    return new BlockLayout(layers, tokens, axes, List.of(new Plane(Plane.Kind.KEY, elements, heads, width),
        new Plane(Plane.Kind.VALUE, elements, heads, width)));
  }

  /// One of some words, in upper or lower case.
  private static <E extends Enum<E>> E one(E[] all, Fields fields, String name, String otherwise) {
    String text = fields.text(name, otherwise);
    return Arrays.stream(all).filter(each -> each.name().equalsIgnoreCase(text)).findFirst()
        .orElseThrow(() -> fields.refused(name, "must be one of " + Arrays.stream(all)
            .map(each -> each.name().toLowerCase(Locale.ROOT)).collect(Collectors.joining(", ")), text));
  }
}
