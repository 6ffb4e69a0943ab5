package io.penstock.lab.plan;

import io.penstock.disagg.plan.TransferPlan;
import io.penstock.node.plan.Case;
import io.penstock.node.plan.Fields;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import tools.jackson.databind.JsonNode;

/// All kinds of cases, each recognised by the fields that only it has.
final class CaseRules {
  private static final List<CaseRule> ALL = List.of(
      input("ranks to pull", TopologyRules::pulledRanks, "req_id", "decode_tp"),
      input("blocks under context parallelism", TopologyRules::shards, "prefill", "num_prompt_blocks_p_units"),
      rule("completions of a push",
          one -> has(one.json(), "per_decode_endpoint") || has(one.json().path("input"), "args"),
          TopologyRules::completions),
      input("blocks to push", TopologyRules::pushedBlocks, "prefill", "decode", "req_index_in_batch"),
      rule("heads of ranks", one -> has(one.json(), "num_kv_heads", "tp"), BlockRules::headsOfRanks),
      rule("copies of heads", one -> has(one.json(), "tp", "heads", "dcp"), BlockRules::copies),
      input("contiguous blocks", BlockRules::runs, "src", "dst", "block_len"),
      input("contiguous bytes", BlockRules::splitRuns, "src_groups", "dst_groups", "block_len"),
      input("blocks that prefill offers", BlockRules::trim, "groups", "blocks", "prompt_len"),
      input("blocks of a replicated indexer", BlockRules::replicated, "local_full_block_ids", "num_prompt_blocks"),
      input("hosts by port", BlockRules::route, "base_port", "default_host", "port"),
      input("ports of ranks", BlockRules::ports, "kv_port", "dp_rank", "tp_rank"),
      input("layers of stages", BlockRules::stages, "num_layers", "pp_size"),
      input("order of heads", BlockRules::concat, "pulls", "heads_per_decode_rank"),
      input("layer slots", BlockRules::slots, "num_layers", "config"),
      input("finished counts", BlockRules::finished, "expected_finished_count", "per_step_per_worker"),
      input("pool of unequal sides", PoolRules::unequalSides, "kv_role", "local_tp"),
      rule("pool keys", one -> has(one.json(), "pool", "layer"), PoolRules::keys),
      rule("pool key fields", one -> has(one.json(), "key", "field", "value"), PoolRules::replacedField),
      input("pool chunks", PoolRules::chunks, "block_sizes", "hash_block_size"),
      input("pool put shares", PoolRules::putShare, "num_chunks", "put_step"),
      input("pool hits", PoolRules::hits, "per_rank", "ends"),
      input("pool save windows", PoolRules::saveWindows, "token_len_per_step", "granularity"),
      input("pool blocks by stage", PoolRules::stageShares, "partitions", "addrs"),
      rule("pool common hits", one -> isList(one, JsonNode::isArray, 0), PoolRules::commonHit),
      rule("pool partial block", one -> isList(one, JsonNode::isValueNode, 4), PoolRules::partialBlock),
      rule("pool granularity", one -> isList(one, JsonNode::isString, 3), PoolRules::granularity),
      rule("sizes", one -> SizeRule.fits(one.json()), SizeRule::bytes),
      rule("proxy scores", one -> has(one.json(), "request_bytes", "score"), ProxyRules::score),
      rule("proxy steps", one -> has(one.json(), "op", "args", "state"), ProxyRules::step));

  private static final Map<String, Function<Case, TransferPlan>> PLANS = Map.of(
      "ranks to pull", TopologyRules::ranks, "blocks under context parallelism", TopologyRules::pull,
      "blocks to push", TopologyRules::push, "completions of a push", TopologyRules::push);

  private CaseRules() {}

  private static CaseRule rule(String kind, Predicate<Case> fits, CaseRule.Answer answer) {
    return new CaseRule(kind, fits, answer);
  }

  private static CaseRule input(String kind, CaseRule.Answer answer, String... fields) {
    return new CaseRule(kind, one -> has(one.json().path("input"), fields), answer);
  }

  private static boolean has(JsonNode node, String... fields) {
    return node.isObject() && Fields.of(node).has(fields);
  }

  /// @param size of the list, or 0 for any
  private static boolean isList(Case one, Predicate<JsonNode> element, int size) {
    JsonNode input = one.json().path("input");
    return input.isArray() && (size == 0 || input.size() == size) && input.valueStream().allMatch(element)
        && one.json().has("output");
  }

  /// Names of all kinds.
  static List<String> kinds() {
    return ALL.stream().map(CaseRule::kind).toList();
  }

  /// The rule that a case asks for.
  static Optional<CaseRule> of(Case one) {
    return ALL.stream().filter(rule -> rule.fits().test(one)).findFirst();
  }

  /// Whether a kind is of two sides and a request.
  static boolean plans(CaseRule rule) {
    return PLANS.containsKey(rule.kind());
  }

  /// The plan that a case describes, if its kind is of two sides and a request.
  static Optional<Function<Case, TransferPlan>> plan(Case one) {
    return of(one).map(CaseRule::kind).filter(kind -> !one.json().path("input").has("args")).map(PLANS::get);
  }
}
