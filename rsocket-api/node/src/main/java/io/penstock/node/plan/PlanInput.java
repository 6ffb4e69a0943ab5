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
import io.penstock.disagg.plan.StageLayers;
import io.penstock.disagg.plan.TransferPlan;
import java.util.ArrayList;
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
  private static final Set<String> MODEL =
      with(SHAPE, "name", "layers", "draftLayers", "type", "groups");
  private static final Set<String> OF_A_SIDE =
      Set.of("name", "layers", "draftLayers", "type", "kvHeads", "headDim", "latentRank", "ropeDim");
  private static final Set<String> SIDE = with(OF_A_SIDE, "tp", "pp", "pcp", "dcp", "dp", "blockTokens", "order",
      "stageLayers");

  private final Fields model;

  private PlanInput(Fields model) {
    this.model = model;
  }

  static boolean fits(JsonNode json) {
    return json.has("model") && json.has("prefill") && json.has("decode") && json.has("request");
  }

  static TransferPlan plan(Case one) {
    Fields fields = one.fields();
    PlanInput input = new PlanInput(fields.at("model"));
    Fields request = fields.at("request");
    fields.refuseOthers(Set.of("model", "prefill", "decode", "request"));
    input.model.refuseOthers(MODEL);
    request.refuseOthers(Set.of("id", "promptTokens", "cachedTokens"));
    return new Planner(input.side(fields.at("prefill")), input.side(fields.at("decode")))
        .plan(new KvRequest(request.text("id"), request.count("promptTokens"), request.count("cachedTokens", 0)));
  }

  private static Set<String> with(Set<String> names, String... more) {
    return Stream.concat(names.stream(), Stream.of(more)).collect(Collectors.toUnmodifiableSet());
  }

  private Manifest side(Fields side) {
    side.refuseOthers(SIDE);
    int draft = either(side, "draftLayers").count("draftLayers", 0);
    List<Group> groups = groups(side);
    Parallelism parallelism = new Parallelism(side.count("tp", 1), side.count("pp", 1), side.count("dp", 1),
        side.count("pcp", 1), side.count("dcp", 1));
    String name = either(side, "name").text("name", "model");
    Manifest even = Manifest.of(name, groups, parallelism, draft);
    return side.has("stageLayers")
        ? new Manifest(name, groups, parallelism,
            StageLayers.stated(side.integers("stageLayers"), even.layers() - draft, parallelism.pp()), draft)
        : even;
  }

  private Fields either(Fields side, String name) {
    return side.has(name) ? side : model;
  }

  private List<Group> groups(Fields side) {
    if (!model.has("groups")) {
      int layers = Math.addExact(either(side, "layers").count("layers"),
          either(side, "draftLayers").count("draftLayers", 0));
      return List.of(new Group(layout(side, model, layers), IntStream.range(0, layers).boxed().toList(),
          model.count("windowTokens", 0)));
    }
    List<Group> groups = new ArrayList<>();
    for (Fields group : model.objects("groups")) {
      group.refuseOthers(GROUP);
      List<Integer> layers = group.integers("layers");
      groups.add(new Group(layout(side, group, layers.size()), layers, group.count("windowTokens", 0)));
    }
    return groups;
  }

  /// @param shape fields of the group, which stand before those of the model
  private BlockLayout layout(Fields side, Fields shape, int layers) {
    String type = either(side, "type").text("type", "bf16");
    ElementType elements = side.parsed("type", type, "an element type such as bf16, fp16 or int8",
        text -> ElementType.valueOf(text.toUpperCase(Locale.ROOT)));
    String order = side.text("order", "nhd");
    TokenOrder axes =
        side.parsed("order", order, "nhd or hnd", text -> TokenOrder.valueOf(text.toUpperCase(Locale.ROOT)));
    int tokens = side.count("blockTokens", 16);
    if (shape.has("latentRank") || (!shape.has("kvHeads") && either(side, "latentRank").has("latentRank"))) {
      Fields latent = shape.has("latentRank") ? shape : either(side, "latentRank");
      return BlockLayout.latent(layers, tokens, latent.count("latentRank"), latent.count("ropeDim", 64), elements)
          .withOrder(axes);
    }
    int heads = (side.has("kvHeads") ? side : shape.has("kvHeads") ? shape : model).count("kvHeads");
    int width = (side.has("headDim") ? side : shape.has("headDim") ? shape : model).count("headDim", 128);
    return new BlockLayout(layers, tokens, axes, List.of(new Plane(Plane.Kind.KEY, elements, heads, width),
        new Plane(Plane.Kind.VALUE, elements, heads, width)));
  }
}
