package io.penstock.lab.plan;

import io.penstock.flow.KvGroup;
import io.penstock.flow.KvGroup.Kind;
import io.penstock.flow.KvGroups;
import io.penstock.node.plan.Case;
import io.penstock.node.plan.Fields;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// Cases about a KV pool that several engines share: keys, chunks, hits, saves, and sides of unequal size.
final class PoolRules {
  private PoolRules() {}

  static Map<String, Object> keys(Case one) {
    PoolKey key = PoolKey.parse(one.fields().text("pool"));
    int layers = one.fields().texts("layer").size();
    return Map.of("pool", key.toString(), "layer",
        IntStream.range(0, layers).mapToObj(layer -> key.ofLayer(layer).toString()).toList());
  }

  /// A key without the field stays as it is.
  static Map<String, Object> replacedField(Case one) {
    Pattern field = Pattern.compile("(@" + Pattern.quote(one.fields().text("field")) + ":)[^@]*");
    return Map.of("output",
        field.matcher(one.fields().text("key")).replaceFirst("$1" + one.fields().integer("value")));
  }

  static Map<String, Object> chunks(Case one) {
    Fields input = one.input();
    int group = input.count("group");
    List<Integer> sizes = input.integers("block_sizes");
    if (sizes.isEmpty()) {
      throw input.refused("block_sizes", "must not be empty", sizes);
    }
    return Map.of("output", PoolChunk
        .of(input.count("token_len"), input.count("num_hashes"), sizes.get(group < sizes.size() ? group : 0),
            input.count("hash_block_size"),
            input.count("mask_tokens"))
        .stream().map(chunk -> List.of(chunk.start(), chunk.end(), PoolKey
            .ofBlock("m", 0, 1, 2, 0, group, PoolKey.Role.KV, "default", "h" + chunk.hash()).toString()))
        .toList());
  }

  static Map<String, Object> putShare(Case one) {
    Fields input = one.input();
    return Map.of("output", SaveWindow
        .share(input.count("num_chunks"), input.count("put_step"), input.count("tp_rank_mod")).boxed().toList());
  }

  /// Positions that end a block which all ranks have: of a state any, else those before the first missing block.
  static Map<String, Object> hits(Case one) {
    Fields input = one.input();
    boolean anywhere = one.section().equals("discontinuous_hits");
    List<List<Integer>> ranks = input.integerLists("per_rank");
    List<Integer> ends = input.integers("ends");
    int granule = input.positive("granularity");
    int most = input.count("max_hit");
    for (int i = 0; i < ranks.size(); i++) {
      if (ranks.get(i).size() < ends.size()) {
        throw input.refused("per_rank[" + i + "]", "must be %d numbers or more, one a block".formatted(ends.size()),
            ranks.get(i));
      }
    }
    List<Integer> hits = new ArrayList<>();
    for (int i = 0; i < ends.size() && ends.get(i) <= most; i++) {
      int block = i;
      if (!ranks.stream().allMatch(row -> row.get(block) == 1)) {
        if (!anywhere) {
          break;
        }
      } else if (ends.get(i) % granule == 0) {
        hits.add(ends.get(i));
      }
    }
    return Map.of("output", hits);
  }

  static Map<String, Object> commonHit(Case one) {
    return Map.of("output", KvGroups.common(one.fields().integerLists("input")));
  }

  static Map<String, Object> partialBlock(Case one) {
    List<Object> input = one.fields().integersAndFlags("input");
    if (input.size() != 4 || !(input.get(0) instanceof Integer tokens) || !(input.get(1) instanceof Integer block)
        || !(input.get(2) instanceof Integer hashes) || !(input.get(3) instanceof Boolean enabled)) {
      throw one.fields().refused("input", "must be three numbers and a flag", input);
    }
    OptionalInt index = enabled && tokens > 0 ? SaveWindow.partialBlock(tokens, block, hashes) : OptionalInt.empty();
    return nullable("output", index.isPresent() ? (Integer) index.getAsInt() : null);
  }

  private static Map<String, Object> nullable(String name, @Nullable Object value) {
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put(name, value);
    return answer;
  }

  /// The inputs are the block sizes of all groups, the least common multiple that is configured, and the groups that
  /// move.
  static Map<String, Object> granularity(Case one) {
    List<Integer> sizes = numbers(one, 0);
    List<KvGroup> groups = new ArrayList<>();
    numbers(one, 1).stream().limit(1).forEach(configured -> groups.add(KvGroup.of(Kind.FULL, configured)));
    for (int group : numbers(one, 2)) {
      groups.add(KvGroup.of(Kind.FULL, sizes.get(group < sizes.size() ? group : 0)));
    }
    return Map.of("output", new KvGroups(groups).granularity());
  }

  private static List<Integer> numbers(Case one, int input) {
    String text = one.fields().texts("input").get(input);
    return one.fields().parsed("input[" + input + "]", text, "numbers, in brackets if there are several",
        list -> Arrays.stream(list.replaceAll("[\\[\\] ]", "").split(",")).filter(number -> !number.isEmpty())
            .map(Integer::valueOf).toList());
  }

  /// With parts of granules each step is saved, even if it has nothing new.
  static Map<String, Object> saveWindows(Case one) {
    Fields input = one.input();
    boolean wholeGranules = input.flag("discard_partial");
    int saved = 0;
    List<@Nullable Object> windows = new ArrayList<>();
    for (int tokens : input.integers("token_len_per_step")) {
      Optional<SaveWindow> window = SaveWindow.next(saved, tokens, input.count("granularity"), wholeGranules);
      int end = window.map(SaveWindow::end).orElse(tokens);
      windows.add(wholeGranules && window.isEmpty() ? null : row(saved, end));
      saved = window.map(SaveWindow::end).orElse(saved);
    }
    return Map.of("output", windows);
  }

  private static Map<String, Object> row(int start, int end) {
    return Map.of("can_save", true, "save_start", start, "save_end", end);
  }

  static Map<String, Object> unequalSides(Case one) {
    Fields input = one.input();
    int local = positive(input.node().path("local_tp"), 1);
    int peer = positive(input.any("extra")
        .path(input.text("kv_role").equals("kv_consumer") ? "prefill_tp_size" : "decode_tp_size"), local);
    HeadShare share = HeadShare.of(local, peer, positive(input.node().path("num_kv_heads"), 1),
        !input.flag("mla") && !input.flag("hybrid"));
    return Map.of("output", Map.of("enabled", share.enabled(), "peer_tp", peer, "effective_tp", share.ranks(),
        "local_heads", share.localHeads(), "effective_heads", share.heads(), "sub_keys", share.subKeys()));
  }

  /// Number as an engine reads its settings: a text that is a number is accepted, and any other text counts as left
  /// out.
  private static int positive(JsonNode node, int otherwise) {
    int number = node.isNumber()
        ? (int) node.doubleValue()
        : node.isString() && node.stringValue().strip().matches("[+-]?\\d{1,9}")
            ? Integer.parseInt(node.stringValue().strip())
            : node.isBoolean() && node.booleanValue() ? 1 : 0;
    return number > 0 ? number : otherwise;
  }

  static Map<String, Object> stageShares(Case one) {
    Fields input = one.input();
    List<Integer> addresses = input.integers("addrs");
    List<Integer> sizes = input.integers("sizes");
    if (addresses.size() != sizes.size()) {
      throw input.refused("sizes", "must be %d numbers, one an address".formatted(addresses.size()), sizes.size());
    }
    PoolKey key = PoolKey.parse(input.text("key"));
    return Map.of("output", StageShare.of(key, stages(input), addresses.size()).stream()
        .map(share -> List.of(share.key().toString(), addresses.subList(share.from(), share.to()),
            sizes.subList(share.from(), share.to())))
        .toList());
  }

  /// Layers of each stage; those that the partitions leave out, of a draft model, belong to the last.
  private static List<Integer> stages(Fields input) {
    int layers = input.count("num_layers");
    if (input.isNull("partitions") || input.integers("partitions").isEmpty()) {
      return List.of(layers);
    }
    List<Integer> stages = new ArrayList<>(input.integers("partitions"));
    int last = stages.removeLast();
    stages.add(Math.max(last, layers - stages.stream().mapToInt(Integer::intValue).sum()));
    return stages;
  }
}
