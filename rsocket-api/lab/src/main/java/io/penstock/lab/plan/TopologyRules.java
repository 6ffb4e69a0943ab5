package io.penstock.lab.plan;

import io.penstock.block.BlockLayout;
import io.penstock.block.Plane.ElementType;
import io.penstock.disagg.plan.HeadShards;
import io.penstock.disagg.plan.KvRequest;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.plan.Planner;
import io.penstock.disagg.plan.Rank;
import io.penstock.disagg.plan.ReplicaChoice;
import io.penstock.disagg.plan.TokenPiece;
import io.penstock.disagg.plan.Transfer;
import io.penstock.disagg.plan.TransferPlan;
import io.penstock.node.plan.Case;
import io.penstock.node.plan.Fields;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import tools.jackson.databind.JsonNode;

/// Cases that are two sides and a request: which rank reads from which, which blocks, and how many completions it waits
/// for.
final class TopologyRules {
  private TopologyRules() {}

  /// Tensor and pipeline ranks that each decode rank pulls; the drawn replica groups are given. A request may announce
  /// another prefill parallelism than the one that decode is configured for: it counts.
  static TransferPlan ranks(Case one) {
    Fields input = one.input();
    int prefillTp = input.positive(isAnnounced(one) ? "remote_ptp_size" : "prefill_tp");
    int heads = input.flag("mla") ? 1 : input.positive("num_kv_heads");
    int stages = input.positive("prefill_pp", 1);
    Manifest prefill = side(stages, heads, 1, Parallelism.ofTp(prefillTp).withPp(stages));
    Manifest decode = side(stages, heads, 1, Parallelism.ofTp(input.positive("decode_tp")));
    ReplicaChoice choice =
        prefillTp == decode.parallelism().tp()
            ? ReplicaChoice.inTurn()
            : ReplicaChoice.given(chosen(one, prefill, decode));
    return new Planner(prefill, decode).plan(new KvRequest(input.text("req_id"), 1, 0), choice);
  }

  private static boolean isAnnounced(Case one) {
    return one.input().has("remote_ptp_size");
  }

  /// The groups that were drawn, one for each copy at decode. A case with an announced parallelism does not record
  /// them, so they are derived from the ranks that the first decode ranks pull.
  private static List<Integer> chosen(Case one, Manifest prefill, Manifest decode) {
    int readers = Math.max(1, decode.heads(0).tp() / decode.heads(0).heads());
    int groups = Math.max(1, prefill.heads(0).tp() / prefill.heads(0).heads());
    List<Integer> chosen = isAnnounced(one)
        ? one.fields().integerLists("output_ranks_per_decode_rank").stream().limit(readers)
            .map(ranks -> ranks.isEmpty() ? 0 : Math.floorMod(ranks.getFirst(), groups)).toList()
        : one.fields().integers("chosen_groups");
    if (chosen.size() != readers || chosen.stream().distinct().count() != readers) {
      throw new IllegalArgumentException(
          "chosen_groups must be %d different groups (was %s)".formatted(readers, chosen));
    }
    return chosen;
  }

  static Map<String, Object> pulledRanks(Case one) {
    TransferPlan plan = ranks(one);
    Parallelism prefill = plan.prefill().parallelism();
    HeadShards source = plan.prefill().heads(0);
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("tp_num_need_pulls", headsOfRank(plan.decode()) / headsOfRank(plan.prefill()));
    answer.put("output_ranks_per_decode_rank", plan.decode().parallelism().allRanks().stream()
        .map(reader -> plan.to(reader).stream().map(transfer -> prefill.index(transfer.source())).toList()).toList());
    if (!isAnnounced(one)) {
      answer.put("hash_u64", hash(plan.request().id()));
      answer.put("num_replica_groups", Math.max(1, source.tp() / source.heads()));
      answer.put("prefill_ranks_never_pulled", plan.neverPulled().stream().map(prefill::index).toList());
    }
    return answer;
  }

  /// Count as engines make it: they drop the remainder.
  private static int headsOfRank(Manifest side) {
    return Math.max(1, side.heads(0).heads() / side.parallelism().tp());
  }

  private static String hash(String request) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(request.getBytes(StandardCharsets.UTF_8));
      return Long.toUnsignedString(ByteBuffer.wrap(digest).order(ByteOrder.LITTLE_ENDIAN).getLong());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  /// A layer a stage is enough to see which ranks meet.
  private static Manifest side(int layers, int heads, int blockTokens, Parallelism parallelism) {
    return Manifest.of("case", BlockLayout.attention(layers, blockTokens, heads, 1, ElementType.INT8), parallelism);
  }

  private static Parallelism parallelism(Fields side) {
    return new Parallelism(side.positive("tp"), 1, 1, side.positive("pcp"), side.positive("dcp"));
  }

  /// A pull, mostly under context parallelism.
  static TransferPlan pull(Case one) {
    Fields input = one.input();
    int blockTokens = input.at("prefill").positive("block_size");
    int heads = input.flag("mla") ? 1 : input.positive("num_kv_heads");
    Manifest prefill = side(1, heads, blockTokens, parallelism(input.at("prefill")));
    Manifest decode = side(1, heads, input.at("decode").positive("block_size"), parallelism(input.at("decode")));
    int blocks = input.count("num_prompt_blocks_p_units");
    int cached = input.count("prefix_cached_blocks_p_units");
    return new Planner(prefill, decode)
        .plan(new KvRequest("case", Math.multiplyExact(blocks, blockTokens), Math.multiplyExact(cached, blockTokens)),
            choice(one, prefill, decode));
  }

  /// Under context parallelism, and between sides of equal size, replicas are read by turns. Elsewhere they are drawn,
  /// and the case records neither the draw nor the request's id, so the groups are derived from the first ports of the
  /// first ranks.
  private static ReplicaChoice choice(Case one, Manifest prefill, Manifest decode) {
    HeadShards source = prefill.heads(0);
    HeadShards destination = decode.heads(0);
    if (prefill.parallelism().contextRanks() * decode.parallelism().contextRanks() > 1
        || source.tp() == destination.tp() || !one.json().path("output").isArray()) {
      return ReplicaChoice.inTurn();
    }
    int firstPort = one.input().at("prefill").count("base_port");
    int groups = Math.max(1, source.tp() / source.heads());
    return ReplicaChoice.given(IntStream.range(0, Math.max(1, destination.tp() / destination.heads()))
        .map(reader -> one.json().at("/output/" + reader + "/shards/0/ports/0").asInt(firstPort))
        .map(port -> Math.floorMod(port - firstPort, groups)).boxed().toList());
  }

  /// The push of one step of a prefill. The requests of a batch use the replicas by turns.
  static TransferPlan push(Case one) {
    Fields input = one.input();
    int blockTokens = input.positive("block_size");
    int heads = input.flag("mla") ? 1 : input.positive("num_kv_heads");
    Manifest prefill = side(1, heads, blockTokens, parallelism(input.at("prefill")));
    Manifest decode = side(1, heads, blockTokens, parallelism(input.at("decode")));
    PrefillChunk chunk = PrefillChunk.of(input.count("computed_tokens"), input.count("already_sent_tokens"),
        input.count("decode_cached_tokens"), blockTokens, input.flag("chunk_finish"));
    return new Planner(prefill, decode).plan(
        new KvRequest("case", Math.multiplyExact(chunk.endBlock(), blockTokens),
            Math.multiplyExact(chunk.firstBlock(), blockTokens)),
        ReplicaChoice.byBatch(input.count("req_index_in_batch")));
  }

  static Map<String, Object> pushedBlocks(Case one) {
    TransferPlan plan = push(one);
    Fields input = one.input();
    int local = firstId(input.text("local_block_ids"), input);
    int remote = firstId(input.text("remote_block_ids"), input);
    List<Map<String, Object>> ranks = new ArrayList<>();
    for (Rank source : plan.prefill().parallelism().allRanks()) {
      Map<String, Object> destinations = new LinkedHashMap<>();
      for (Transfer transfer : plan.from(source)) {
        destinations.put(endpoint(plan, transfer.destination(), input), Map.of(
            "local_block_ids", transfer.pieces().stream().map(piece -> local + piece.sourceBlock()).toList(),
            "remote_block_ids", transfer.pieces().stream().map(piece -> remote + piece.destinationBlock()).toList(),
            "trans_count", announcedCompletions(plan, transfer.destination(), input)));
      }
      JsonNode error = one.json().path("per_prefill_rank").path(ranks.size()).path("error");
      ranks.add(Map.of("p_tp_rank", source.tp(), "p_pcp_rank", source.pcp(), error.isMissingNode() ? "output" : "error",
          error.isMissingNode() ? destinations : error));
    }
    return Map.of("per_prefill_rank", ranks);
  }

  /// Ids that are recorded as their first: `100..`.
  private static int firstId(String ids, Fields input) {
    return input.parsed("block_ids", ids, "a number and two dots",
        text -> Integer.parseInt(text.endsWith("..") ? text.substring(0, text.length() - 2) : "?"));
  }

  private static String endpoint(TransferPlan plan, Rank reader, Fields input) {
    return "D:" + (input.at("decode").count("base_port") + plan.decode().parallelism().index(reader));
  }

  /// The number of completions that engines announce to a decode rank. It counts ranks, not those with something to
  /// send: with a cached prefix it can be too large, and then decode waits in vain. [TransferPlan#senders] is right.
  private static int announcedCompletions(TransferPlan plan, Rank reader, Fields input) {
    int blockTokens = input.positive("block_size");
    int blocks = Math.ceilDiv(input.count("prompt_len"), blockTokens);
    int sources = plan.prefill().parallelism().contextRanks();
    int readers = plan.decode().parallelism().contextRanks();
    int completions = sources / readers;
    if (blocks < sources) {
      int cached = Math.ceilDiv(input.count("decode_cached_tokens"), blockTokens);
      int rank = plan.decode().parallelism().contextRank(reader);
      completions = dealt(cached + blocks, readers, rank) - dealt(cached, readers, rank);
    }
    return completions * input.count("pd_head_ratio");
  }

  private static int dealt(int blocks, int ranks, int rank) {
    return blocks / ranks + (rank < blocks % ranks ? 1 : 0);
  }

  static Map<String, Object> completions(Case one) {
    Fields input = one.input();
    if (input.has("args")) {
      return refusedGroups(one);
    }
    TransferPlan plan = push(one);
    Map<String, Object> endpoints = new LinkedHashMap<>();
    for (Rank reader : plan.decode().parallelism().allRanks()) {
      String name = endpoint(plan, reader, input);
      if (!plan.senders(reader).isEmpty() || one.json().path("per_decode_endpoint").has(name)) {
        endpoints.put(name, Map.of("expected_done_messages", announcedCompletions(plan, reader, input),
            "prefill_ranks_that_send", plan.senders(reader).size()));
      }
    }
    return Map.of("per_decode_endpoint", endpoints);
  }

  /// Sides that the engine refuses and this planner accepts: fewer copies at prefill than at decode.
  private static Map<String, Object> refusedGroups(Case one) {
    List<Object> arguments = one.input().integersAndFlags("args");
    if (arguments.size() < 7 || arguments.stream().filter(Integer.class::isInstance).count() < 7) {
      throw one.input().refused("args", "must be 8 numbers and flags", arguments);
    }
    int[] numbers = arguments.stream().mapToInt(argument -> argument instanceof Integer number ? number : 0).toArray();
    int heads = numbers[5];
    int prefill = numbers[0] / heads / numbers[2];
    int decode = numbers[3] / heads / numbers[4];
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("error", prefill < decode ? "group count mismatch" : null);
    return answer;
  }

  /// Where an engine crashed on a rank there is nothing to compare: the planner refuses the sides, or serves them.
  static Map<String, Object> shards(Case one) {
    Parallelism decode = parallelism(one.input().at("decode"));
    Parallelism prefill = parallelism(one.input().at("prefill"));
    JsonNode recorded = one.json().path("output");
    List<Rank> ranks = decode.allRanks();
    Optional<ContextShards> shards = ranks.stream().allMatch(rank -> recorded.path(decode.index(rank)).has("error"))
        ? Optional.empty()
        : Optional.of(contextShards(one));
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("expected_pull_count_per_prefill_port",
        prefill.contextRanks() * decode.contextRanks() == 1
            ? null
            : shards.map(ContextShards::pullsByPort).orElse(null));
    answer.put("output", ranks.stream().map(rank -> {
      JsonNode error = recorded.path(decode.index(rank)).path("error");
      Map<String, Object> row = new LinkedHashMap<>(Map.of("decode_tp_rank", rank.tp(), "decode_pcp_rank", rank.pcp(),
          "decode_dcp_rank", rank.tp() % decode.dcp()));
      if (error.isMissingNode()) {
        row.put("shards", shards.orElseThrow().of(rank));
      } else {
        row.put("error", error);
      }
      return row;
    }).toList());
    return answer;
  }

  private static ContextShards contextShards(Case one) {
    TransferPlan plan = pull(one);
    return new ContextShards(plan, choice(one, plan.prefill(), plan.decode()), one.input());
  }

  static List<TokenPiece> pieces(TransferPlan plan, Rank source, Rank reader) {
    return plan.to(reader).stream().filter(transfer -> transfer.source().equals(source)).findFirst()
        .map(Transfer::pieces).orElse(List.of());
  }
}
