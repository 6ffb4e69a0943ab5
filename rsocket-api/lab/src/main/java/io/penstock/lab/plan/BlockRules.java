package io.penstock.lab.plan;

import io.penstock.disagg.plan.HeadShards;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.plan.Rank;
import io.penstock.disagg.plan.Run;
import io.penstock.disagg.plan.StageLayers;
import io.penstock.lab.plan.HostRoutes.Host;
import io.penstock.node.plan.Case;
import io.penstock.node.plan.Fields;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.NullNode;

/// Cases about parts of a plan: heads, layers, block lists, ports, hosts and counts.
final class BlockRules {
  private static final int MOST_LAYERS = 100_000;
  private static final Pattern OFFSETS_A_HOST = Pattern.compile("offset -> h\\[offset/([1-9]\\d{0,4})]");

  private BlockRules() {}

  static Map<String, Object> headsOfRanks(Case one) {
    HeadShards shards = new HeadShards(one.fields().count("num_kv_heads"), one.fields().count("tp"), 1);
    if (shards.heads() % shards.tp() != 0 && shards.tp() % shards.heads() != 0) {
      return Map.of("error", "ValueError"); // engines refuse what the planner replicates
    }
    Map<String, Object> heads = new LinkedHashMap<>();
    for (int rank = 0; rank < shards.tp(); rank++) {
      heads.put("" + rank, IntStream.range(shards.first(rank), shards.end(rank)).boxed().toList());
    }
    return Map.of("output", heads);
  }

  /// Each copy of all heads, as the ranks that keep one, counted in units of the ranks that split a sequence.
  static Map<String, Object> copies(Case one) {
    int tp = one.fields().count("tp");
    int heads = one.fields().count("heads");
    int dcp = one.fields().count("dcp");
    int holders = tp / heads;
    if (holders == 0) {
      return Map.of("output", List.of(IntStream.range(0, tp / dcp).boxed().toList()));
    }
    return Map.of("output", IntStream.range(0, holders / dcp)
        .mapToObj(copy -> IntStream.range(0, heads * dcp)
            .map(i -> (i / dcp * holders + copy * dcp + i % dcp) / dcp).distinct().sorted().boxed().toList())
        .toList());
  }

  static Map<String, Object> runs(Case one) {
    Fields input = one.input();
    List<Integer> source = input.integers("src");
    List<Integer> destination = input.integers("dst");
    List<Run> runs = runs(input, source, destination);
    return groups(parts(source, runs), parts(destination, runs));
  }

  private static List<Run> runs(Fields input, List<Integer> source, List<Integer> destination) {
    return ContiguousRuns.of(source, destination, input.bytes("src_block_stride"), input.bytes("dst_block_stride"),
        input.bytes("block_len"));
  }

  private static List<List<Integer>> parts(List<Integer> list, List<Run> runs) {
    return runs.stream().map(run -> list.subList(run.from(), run.to())).toList();
  }

  private static Map<String, Object> groups(List<List<Integer>> source, List<List<Integer>> destination) {
    return Map.of("output", Map.of("src_groups", source, "dst_groups", destination));
  }

  /// Groups of neighbours stay as they are where blocks of both sides lie without gaps. Elsewhere they are split again.
  static Map<String, Object> splitRuns(Case one) {
    Fields input = one.input();
    List<List<Integer>> sources = input.integerLists("src_groups");
    List<List<Integer>> destinations = input.integerLists("dst_groups");
    long length = input.bytes("block_len");
    if (input.bytes("src_block_stride") == length && input.bytes("dst_block_stride") == length) {
      return groups(sources, destinations);
    }
    List<Integer> source = sources.stream().flatMap(List::stream).toList();
    List<Integer> destination = destinations.stream().flatMap(List::stream).toList();
    List<Run> runs = runs(input, source, destination);
    return groups(parts(source, runs), parts(destination, runs));
  }

  static Map<String, Object> trim(Case one) {
    Fields input = one.input();
    List<Fields> groups = input.objects("groups");
    List<List<Integer>> blocks = input.integerLists("blocks");
    if (!blocks.isEmpty() && groups.size() != blocks.size()) {
      throw input.refused("blocks", "must be %d lists, one a group".formatted(groups.size()), blocks.size());
    }
    int contextRanks = Math.max(1, Math.multiplyExact(input.count("pcp"), input.count("dcp")));
    List<List<Integer>> trimmed = new ArrayList<>();
    List<List<Integer>> clipped = new ArrayList<>();
    for (int i = 0; i < blocks.size(); i++) {
      Fields group = groups.get(i);
      boolean state = group.flag("is_state_group");
      int window = group.count("blocks_per_window");
      List<Integer> prompt = state
          ? blocks.get(i)
          : ProducerBlocks.ofPrompt(blocks.get(i), input.count("prompt_len"), group.count("tokens_per_block"),
              contextRanks);
      trimmed.add(prompt);
      clipped.add(state || window == 0 ? prompt : ProducerBlocks.ofWindow(prompt, window));
    }
    return Map.of("after_prompt_trim", trimmed, "after_window_clip", clipped);
  }

  static Map<String, Object> replicated(Case one) {
    Fields input = one.input();
    List<List<Integer>> source = idLists(input, "remote_block_ids");
    List<List<Integer>> missing = idLists(input, "local_block_ids");
    List<List<Integer>> full = idLists(input, "local_full_block_ids");
    int external = input.integer("num_external_tokens");
    if (external <= 0 || source.isEmpty() || missing.isEmpty()) {
      return blockIds(List.of(), List.of());
    }
    int sourceRanks = Math.multiplyExact(input.count("remote_pcp_size"), input.count("remote_dcp_size"));
    int destinationRanks = Math.multiplyExact(input.count("pcp"), input.count("dcp"));
    int blocks = input.count("num_prompt_blocks");
    int computed = input.count("num_computed_tokens");
    int blockTokens = blockTokens(input, Math.addExact(external, computed), blocks);
    int cached = Math.min(computed / blockTokens, blocks);
    if (source.size() != 1 || missing.size() != 1 || sourceRanks % destinationRanks != 0
        || blocks - cached < Math.ceilDiv(external, blockTokens) || (cached > 0 && full.isEmpty())) {
      throw new IllegalArgumentException("a replicated indexer must have one group, context ranks that divide those of "
          + "prefill, all external tokens in blocks, and all ids of a cached prefix");
    }
    List<Integer> destination = (full.isEmpty() ? missing : full).getFirst();
    if (destination.isEmpty()) {
      return blockIds(List.of(), List.of());
    }
    List<ReplicatedBlocks> pairs =
        ReplicatedBlocks.of(source.getFirst(), sourceRanks, destination, destinationRanks, cached, blocks);
    return blockIds(List.of(pairs.stream().map(ReplicatedBlocks::destination).toList()),
        List.of(pairs.stream().map(ReplicatedBlocks::source).toList()));
  }

  private static List<List<Integer>> idLists(Fields input, String name) {
    return input.isNull(name) ? List.of() : input.integerLists(name);
  }

  private static Map<String, Object> blockIds(List<List<Integer>> local, List<List<Integer>> remote) {
    return Map.of("output", Map.of("local", local, "remote", remote));
  }

  /// A case does not say the size of its blocks: it is a power of two, at least 16, with which they hold the prompt.
  private static int blockTokens(Fields input, int tokens, int blocks) {
    int least = Math.max(16, Math.ceilDiv(tokens, Math.max(1, blocks)));
    return input.count("block_size", Integer.highestOneBit(least - 1) << 1);
  }

  static Map<String, Object> route(Case one) {
    Fields input = one.input();
    int port = input.count("port");
    Host other = new Host(input.text("default_host"), input.text("default_engine"));
    HostRoutes routes =
        new HostRoutes(hosts(input, port), input.count("kv_port"), input.count("base_port"), other);
    return Map.of("output", List.of(routes.route(port).name(), routes.route(port).engine()));
  }

  /// Hosts are recorded as `8..15`, a host for each, or by a formula: some offsets a host. No host may be recorded,
  /// too.
  private static Map<Integer, Host> hosts(Fields input, int port) {
    if (!input.isNull("mapping_keys")) {
      return ends(input).boxed().collect(Collectors.toMap(i -> i, i -> new Host("host-" + i, "engine-" + i)));
    } else if (input.isNull("mapping")) {
      return Map.of();
    }
    Matcher formula = OFFSETS_A_HOST.matcher(input.text("mapping"));
    if (!formula.matches()) {
      throw input.refused("mapping", "must be \"offset -> h[offset/4]\"", input.text("mapping"));
    }
    int offsets = Integer.parseInt(formula.group(1));
    return IntStream.rangeClosed(0, Math.max(0, port - input.count("kv_port"))).boxed()
        .collect(Collectors.toMap(i -> i, i -> new Host("h" + i / offsets, "e" + i / offsets)));
  }

  private static IntStream ends(Fields input) {
    String keys = input.text("mapping_keys");
    int[] ends = input.parsed("mapping_keys", keys, "two numbers with dots between",
        text -> Arrays.stream(text.split("\\.\\.", -1)).mapToInt(Integer::parseInt).toArray());
    if (ends.length != 2 || ends[0] < 0 || ends[1] > 65_535) {
      throw input.refused("mapping_keys", "must be two port offsets with dots between", keys);
    }
    return IntStream.rangeClosed(ends[0], ends[1]);
  }

  static Map<String, Object> ports(Case one) {
    Fields input = one.input();
    Parallelism parallelism = new Parallelism(input.count("tp"), input.count("pp"), input.count("dp_rank") + 1,
        input.count("pcp"), 1);
    Rank rank = new Rank(input.count("pp_rank"), input.count("pcp_rank"), input.count("tp_rank"));
    RankPorts ports = new RankPorts(input.count("kv_port"), parallelism);
    int replica = input.count("dp_rank");
    return Map.of("base_port", ports.basePort(replica), "device_index", parallelism.index(rank), "handshake_port",
        ports.port(replica, rank));
  }

  static Map<String, Object> stages(Case one) {
    Fields input = one.input();
    int layers = input.count("num_layers");
    int stages = input.count("pp_size");
    List<Integer> bounds;
    try {
      bounds = StageLayers.bounds(input.isNull("partition")
          ? StageLayers.even(layers, stages)
          : StageLayers.stated(Arrays.stream(input.text("partition").split(",", -1))
              .map(part -> Integer.parseInt(part.strip())).toList(), layers, stages));
    } catch (IllegalArgumentException e) {
      return Map.of("error", "ValueError");
    }
    return Map.of("output", IntStream.range(0, stages)
        .mapToObj(stage -> List.of(bounds.get(stage), bounds.get(stage + 1))).toList());
  }

  static Map<String, Object> concat(Case one) {
    Fields input = one.input();
    HeadConcat concat = new HeadConcat(input.count("pulls"), input.count("block_size"),
        input.count("heads_per_decode_rank"), input.count("head_dim"));
    int elements = Math.multiplyExact(input.count("num_blocks"), concat.size());
    return Map.of("output_flat", IntStream.range(0, elements)
        .map(i -> i / concat.size() * concat.size() + concat.source(i % concat.size())).boxed().toList());
  }

  static Map<String, Object> slots(Case one) {
    Fields config = one.input().isNull("config") ? Fields.of(NullNode.getInstance()) : one.input().at("config");
    int layers = one.input().integer("num_layers");
    if (layers > MOST_LAYERS) {
      throw one.input().refused("num_layers", "must be <= " + MOST_LAYERS, layers);
    }
    Map<String, Object> output = new LinkedHashMap<>();
    try {
      int shared = positive(config, "layerwise_num_shared_buffers", layers);
      int prefetch = positive(config, "layerwise_prefetch_layers", LayerSlots.prefetch(shared));
      LayerSlots slots = LayerSlots.of(layers, shared, prefetch, independent(config, layers));
      output.put("num_shared", slots.shared());
      output.put("prefetch", slots.prefetch());
      output.put("independent", slots.independent());
      output.put("wait_for_save_of", slots.waitsFor());
      output.put("slots", slots.slots());
      output.put("has_reuse", slots.hasReuse());
    } catch (IllegalArgumentException e) {
      output.put("error", "ValueError");
    } catch (ClassCastException e) {
      output.put("error", "TypeError");
    }
    return Map.of("output", output);
  }

  private static int positive(Fields config, String name, int otherwise) {
    int number = config.isNull(name) ? otherwise : number(config.any(name));
    if (number < 1) {
      throw new IllegalArgumentException(name + " must be >= 1 (was " + number + ")");
    }
    return number;
  }

  /// Number as the engine reads its settings: a text that is a number is accepted.
  private static int number(JsonNode node) {
    if (node.isIntegralNumber() && node.canConvertToInt()) {
      return node.intValue();
    } else if (node.isString() && node.stringValue().strip().matches("[+-]?\\d{1,9}")) {
      return Integer.parseInt(node.stringValue().strip());
    } else if (node.isNumber()) {
      return (int) node.doubleValue();
    }
    throw new ClassCastException(node + " is no number");
  }

  private static List<Integer> independent(Fields config, int layers) {
    String name = "layerwise_independent_layers";
    if (config.isNull(name)) {
      return List.of(0);
    }
    JsonNode given = config.any(name);
    if (given.isString() && given.stringValue().strip().equalsIgnoreCase("all")) {
      return IntStream.range(0, layers).boxed().toList();
    } else if (given.isArray()) {
      return given.valueStream().map(BlockRules::number).toList();
    }
    throw new ClassCastException(given + " is no list");
  }

  static Map<String, Object> finished(Case one) {
    Fields input = one.input();
    FinishedCounts counts = new FinishedCounts(input.isNull("expected_finished_count")
        ? input.any("per_step_per_worker").path(0).size() // each worker reports
        : input.count("expected_finished_count"));
    return Map.of("finished_per_step", input.textLists("per_step_per_worker").stream()
        .map(step -> new TreeSet<>(step.stream().flatMap(List::stream).filter(counts::report).toList())).toList());
  }
}
