package io.penstock.node.plan;

import io.penstock.node.cli.DataException;
import io.penstock.pool.HeadShare;
import io.penstock.pool.KvGroup;
import io.penstock.pool.KvGroup.Kind;
import io.penstock.pool.KvGroups;
import io.penstock.pool.PoolChunk;
import io.penstock.pool.PoolKey;
import io.penstock.pool.SaveWindow;
import io.penstock.pool.StageShare;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
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

  static Map<String, Object> replacedField(Case one) {
    PoolKey key = PoolKey.parse(one.fields().text("key"));
    int value = one.fields().count("value");
    String field = one.fields().text("field");
    PoolKey replaced = switch (field) {
      case "pp_rank" -> key.withStage(value);
      case "head_or_tp_rank" -> key.withRank(value);
      default -> throw new DataException("field must be pp_rank or head_or_tp_rank (was " + field + ")");
    };
    return Map.of("output", replaced.toString());
  }

  static Map<String, Object> chunks(Case one) {
    Fields input = one.input();
    int group = input.count("group");
    List<Integer> sizes = input.integers("block_sizes");
    if (group >= sizes.size()) {
      throw new DataException("input.group must be below %d (was %d)".formatted(sizes.size(), group));
    }
    return Map.of("output", PoolChunk
        .of(input.count("token_len"), input.count("num_hashes"), sizes.get(group), input.count("hash_block_size"),
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

  static Map<String, Object> hits(Case one) {
    Fields input = one.input();
    List<BitSet> ranks = input.integerLists("per_rank").stream().map(PoolRules::present).toList();
    List<Integer> ends = input.integers("ends");
    if (ends.isEmpty()) {
      return Map.of("output", List.of());
    }
    KvGroup group = KvGroup.of(one.section().equals("discontinuous_hits") ? Kind.STATE : Kind.FULL, ends.getFirst());
    return Map.of("output", KvGroups.positions(group, input.count("granularity"), input.count("max_hit"),
        KvGroups.onAll(ranks)));
  }

  private static BitSet present(List<Integer> row) {
    BitSet present = new BitSet();
    IntStream.range(0, row.size()).filter(i -> row.get(i) == 1).forEach(present::set);
    return present;
  }

  static Map<String, Object> commonHit(Case one) {
    return Map.of("output", KvGroups.common(one.fields().integerLists("input")));
  }

  static Map<String, Object> partialBlock(Case one) {
    List<Object> input = one.fields().list("input",
        (path, node) -> node.isBoolean() ? node.booleanValue() : node.asInt());
    if (input.size() != 4 || !(input.get(0) instanceof Integer tokens) || !(input.get(1) instanceof Integer block)
        || !(input.get(2) instanceof Integer hashes) || !(input.get(3) instanceof Boolean enabled)) {
      throw new DataException("input must be three numbers and a flag (was " + input + ")");
    }
    OptionalInt index = enabled ? SaveWindow.partialBlock(tokens, block, hashes) : OptionalInt.empty();
    return nullable("output", index.isPresent() ? (Integer) index.getAsInt() : null);
  }

  private static Map<String, Object> nullable(String name, @Nullable Object value) {
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put(name, value);
    return answer;
  }

  static Map<String, Object> granularity(Case one) {
    String sizes = one.fields().texts("input").getFirst();
    List<KvGroup> groups = one.fields().parsed("input[0]", sizes, "numbers in brackets",
        text -> Arrays.stream(text.replaceAll("[\\[\\] ]", "").split(",", -1))
            .map(size -> KvGroup.of(Kind.FULL, Integer.parseInt(size))).toList());
    return Map.of("output", new KvGroups(groups).granularity());
  }

  static Map<String, Object> saveWindows(Case one) {
    Fields input = one.input();
    int saved = 0;
    List<@Nullable Object> windows = new ArrayList<>();
    for (int tokens : input.integers("token_len_per_step")) {
      Optional<SaveWindow> window =
          SaveWindow.next(saved, tokens, input.count("granularity"), input.flag("discard_partial"));
      windows.add(window.map(PoolRules::row).orElse(null));
      saved = window.map(SaveWindow::end).orElse(saved);
    }
    return Map.of("output", windows);
  }

  private static Map<String, Object> row(SaveWindow window) {
    return Map.of("can_save", true, "save_start", window.start(), "save_end", window.end());
  }

  static Map<String, Object> unequalSides(Case one) {
    Fields input = one.input();
    String role = input.text("kv_role");
    int local = input.count("local_tp");
    JsonNode stated = input.at("extra").node()
        .path(role.equals("kv_consumer") ? "prefill_tp_size" : "decode_tp_size");
    int peer = stated.isIntegralNumber() && stated.asInt() > 0 ? stated.asInt() : local;
    HeadShare share = HeadShare.of(local, peer, input.count("num_kv_heads"),
        !input.flag("mla") && !input.flag("hybrid"));
    return Map.of("output", Map.of("enabled", share.enabled(), "peer_tp", peer, "effective_tp", share.ranks(),
        "local_heads", share.localHeads(), "effective_heads", share.heads(), "sub_keys", share.subKeys()));
  }

  static Map<String, Object> stageShares(Case one) {
    Fields input = one.input();
    List<Integer> addresses = input.integers("addrs");
    List<Integer> sizes = input.integers("sizes");
    if (addresses.size() != sizes.size()) {
      throw new DataException("input.sizes must be %d numbers, one an address (was %d)".formatted(addresses.size(),
          sizes.size()));
    }
    return Map.of("output", StageShare
        .of(PoolKey.parse(input.text("key")), input.integers("partitions"), addresses.size()).stream()
        .map(share -> List.of(share.key().toString(), addresses.subList(share.from(), share.to()),
            sizes.subList(share.from(), share.to())))
        .toList());
  }
}
