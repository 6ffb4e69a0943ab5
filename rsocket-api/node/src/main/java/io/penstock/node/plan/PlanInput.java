package io.penstock.node.plan;

import io.penstock.disagg.plan.KvRequest;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Manifest.Group;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.plan.Planner;
import io.penstock.disagg.plan.TransferPlan;
import io.penstock.node.shape.ModelPreset;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/// Two manifests and a request, as the help of `penstock plan` shows them. Fields of the model may stand in a side,
/// too, where they count for that side alone.
final class PlanInput {
  private static final Set<String> SHAPE =
      Set.of("kvHeads", "headDim", "valueDim", "latentRank", "ropeDim", "planes", "windowTokens");
  private static final Set<String> GROUP = with(SHAPE, "layers", "state");
  private static final Set<String> MODEL = with(SHAPE, "name", "layers", "draftLayers", "type", "groups");
  private static final Set<String> OF_A_SIDE =
      Set.of("name", "layers", "draftLayers", "type", "kvHeads", "headDim", "valueDim", "latentRank", "ropeDim",
          "planes");
  private static final Set<String> SIDE = with(OF_A_SIDE, "tp", "pp", "pcp", "dcp", "dp", "blockTokens", "order",
      "stageLayers");
  private static final Set<String> REQUEST = Set.of("id", "promptTokens", "cachedTokens");
  private static final List<String> PARTS = List.of("model", "prefill", "decode", "request");
  private static final Set<String> ALL = Set.copyOf(PARTS);

  private final Fields model;

  private PlanInput(Fields model) {
    this.model = model;
  }

  /// Whether this is meant as a plan's input: recorded cases have neither field.
  static boolean fits(JsonNode json) {
    return json.isObject() && (json.isEmpty() || json.has("model") || json.has("request"));
  }

  static TransferPlan plan(Case one) {
    Fields fields = one.fields();
    fields.refuseOthers(ALL);
    requireAll(fields);
    PlanInput input = new PlanInput(model(fields));
    input.model.refuseOthers(MODEL);
    Manifest prefill = input.side(fields.at("prefill"));
    Manifest decode = input.side(fields.at("decode"));
    return new Planner(prefill, decode).plan(request(fields.at("request")));
  }

  /// Names all fields that are missing, not only the first.
  private static void requireAll(Fields fields) {
    List<String> missing = PARTS.stream().filter(name -> !fields.has(name)).toList();
    if (!missing.isEmpty()) {
      throw new FieldException(String.join(", ", missing), "must be given", "left out");
    }
  }

  /// The fields of the model; a text is the name of a model that `penstock models` lists.
  private static Fields model(Fields fields) {
    JsonNode model = fields.any("model");
    if (!model.isString()) {
      return fields.at("model");
    }
    if (ModelPreset.of(model.stringValue()).isEmpty()) {
      throw fields.refused("model", PlanShape.unknown(model.stringValue()), model.stringValue());
    }
    return new Fields("model", JsonNodeFactory.instance.objectNode().put("name", model.stringValue()));
  }

  private static KvRequest request(Fields request) {
    request.refuseOthers(REQUEST);
    int prompt = request.tokens("promptTokens");
    int cached = request.tokens("cachedTokens", 0);
    if (cached > prompt) {
      throw request.refused("cachedTokens", "must be <= promptTokens " + prompt, cached);
    }
    return new KvRequest(request.text("id", "request"), prompt, cached);
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
    return model.has("groups") ? statedGroups(side) : new PlanShape(side, model).ofModel();
  }

  private List<Group> statedGroups(Fields side) {
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
      groups.add(new PlanShape(side, model).ofGroup(group, layers));
    }
    return groups;
  }
}
