package io.penstock.lab.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.flow.KvGroup;
import io.penstock.flow.KvGroup.Kind;
import io.penstock.flow.KvGroups;
import io.penstock.lab.plan.PoolKey.Role;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Keys, lookups and saves of a KV pool are those of an engine that uses one. The cases are not part of this
/// repository: name their folder in `-Dpenstock.oracles=…`; without it, `shared/oracles` beside the repository is
/// looked for.
final class PoolCasesTest {
  private JsonNode cases;

  @BeforeEach
  void read() {
    Path file = Path.of(System.getProperty("penstock.oracles", "../../../shared/oracles"), "kv_pool.json");
    assumeTrue(Files.isReadable(file), "no readable file " + file.toAbsolutePath());
    cases = JsonMapper.shared().readTree(file.toFile());
  }

  private static List<Integer> ints(JsonNode array) {
    List<Integer> ints = new ArrayList<>();
    array.forEach(one -> ints.add(one.asInt()));
    return ints;
  }

  private Iterable<JsonNode> of(String kind) {
    assertThat(cases.get(kind)).as(kind).isNotEmpty();
    return cases.get(kind);
  }

  @Test
  void keys() {
    for (JsonNode one : of("keys")) {
      PoolKey key = PoolKey.parse(one.get("pool").asString());
      assertThat(key).hasToString(one.get("pool").asString());
      for (int layer = 0; layer < one.get("layer").size(); layer++) {
        assertThat(key.ofLayer(layer)).hasToString(one.get("layer").get(layer).asString());
        assertThat(PoolKey.parse(key.ofLayer(layer).toString())).isEqualTo(key.ofLayer(layer));
      }
    }
    for (JsonNode one : of("replace_field")) {
      PoolKey key = PoolKey.parse(one.get("key").asString());
      int value = one.get("value").asInt();
      PoolKey replaced = one.get("field").asString().equals("pp_rank") ? key.withStage(value) : key.withRank(value);
      assertThat(replaced).hasToString(one.get("output").asString());
    }
  }

  @Test
  void chunks() {
    for (JsonNode one : of("chunks")) {
      JsonNode input = one.get("input");
      int group = input.get("group").asInt();
      List<PoolChunk> chunks = PoolChunk.of(input.get("token_len").asInt(), input.get("num_hashes").asInt(),
          input.get("block_sizes").get(group).asInt(), input.get("hash_block_size").asInt(),
          input.get("mask_tokens").asInt());
      List<String> rows = chunks.stream().map(chunk -> chunk.start() + " " + chunk.end() + " "
          + PoolKey.ofBlock("m", 0, 1, 2, 0, group, Role.KV, "default", "h" + chunk.hash())).toList();
      List<String> expected = new ArrayList<>();
      one.get("output").forEach(row -> expected
          .add(row.get(0).asInt() + " " + row.get(1).asInt() + " " + row.get(2).asString()));
      assertThat(rows).as(input.toString()).isEqualTo(expected);
    }
  }

  @Test
  void hits() {
    positions("continuous_hits", Kind.FULL);
    positions("discontinuous_hits", Kind.STATE);
    for (JsonNode one : of("common_hit")) {
      List<List<Integer>> positions = new ArrayList<>();
      one.get("input").forEach(list -> positions.add(ints(list)));
      assertThat(KvGroups.common(positions)).as(one.toString()).isEqualTo(one.get("output").asInt());
    }
    for (JsonNode one : of("granularity")) {
      List<KvGroup> groups = new ArrayList<>();
      JsonMapper.shared().readTree(one.get("input").get(0).asString())
          .forEach(tokens -> groups.add(KvGroup.of(Kind.FULL, tokens.asInt())));
      assertThat(new KvGroups(groups).granularity()).as(one.toString()).isEqualTo(one.get("output").asInt());
    }
  }

  private void positions(String cases, Kind kind) {
    for (JsonNode one : of(cases)) {
      JsonNode input = one.get("input");
      List<BitSet> ranks = new ArrayList<>();
      for (JsonNode row : input.get("per_rank")) {
        BitSet rank = new BitSet();
        for (int i = 0; i < row.size(); i++) {
          rank.set(i, row.get(i).asInt() == 1);
        }
        ranks.add(rank);
      }
      KvGroup group = KvGroup.of(kind, input.get("ends").get(0).asInt());
      assertThat(KvGroups.positions(group, input.get("granularity").asInt(), input.get("max_hit").asInt(),
          KvGroups.onAll(ranks))).as(one.toString()).isEqualTo(ints(one.get("output")));
    }
  }

  @Test
  void saves() {
    for (JsonNode one : of("save_window")) {
      int saved = 0;
      for (int step = 0; step < one.get("output").size(); step++) {
        Optional<SaveWindow> window =
            SaveWindow.next(saved, one.get("input").get("token_len_per_step").get(step).asInt(),
                one.get("input").get("granularity").asInt(), one.get("input").get("discard_partial").asBoolean());
        JsonNode expected = one.get("output").get(step);
        assertThat(window).as(one.toString()).isEqualTo(expected.isNull()
            ? Optional.empty()
            : Optional.of(new SaveWindow(expected.get("save_start").asInt(), expected.get("save_end").asInt())));
        saved = window.map(SaveWindow::end).orElse(saved);
      }
    }
    for (JsonNode one : of("put_sharding")) {
      JsonNode input = one.get("input");
      assertThat(SaveWindow.share(input.get("num_chunks").asInt(), input.get("put_step").asInt(),
          input.get("tp_rank_mod").asInt()).boxed().toList()).as(one.toString()).isEqualTo(ints(one.get("output")));
    }
    for (JsonNode one : of("partial_block_index")) {
      JsonNode input = one.get("input");
      OptionalInt block = input.get(3).asBoolean()
          ? SaveWindow.partialBlock(input.get(0).asInt(), input.get(1).asInt(), input.get(2).asInt())
          : OptionalInt.empty();
      assertThat(block).as(one.toString())
          .isEqualTo(one.get("output").isNull() ? OptionalInt.empty() : OptionalInt.of(one.get("output").asInt()));
    }
  }

  @Test
  void unequalSides() {
    for (JsonNode one : of("tp_mismatch")) {
      JsonNode input = one.get("input");
      boolean consumer = input.get("kv_role").asString().equals("kv_consumer");
      int local = input.get("local_tp").asInt();
      int peer = input.get("extra").path(consumer ? "prefill_tp_size" : "decode_tp_size").asInt(local);
      HeadShare share = HeadShare.of(local, peer, input.get("num_kv_heads").asInt(),
          !input.get("mla").asBoolean() && !input.get("hybrid").asBoolean());
      JsonNode output = one.get("output");
      assertThat(share).as(one.toString()).isEqualTo(new HeadShare(output.get("enabled").asBoolean(),
          output.get("effective_tp").asInt(), output.get("local_heads").asInt(), output.get("effective_heads").asInt(),
          output.get("sub_keys").asInt()));
    }
    for (JsonNode one : of("decode_put_pp_split")) {
      JsonNode input = one.get("input");
      List<Integer> addresses = ints(input.get("addrs"));
      List<StageShare> shares = StageShare.of(PoolKey.parse(input.get("key").asString()),
          ints(input.get("partitions")), addresses.size());
      assertThat(shares).hasSize(one.get("output").size());
      for (int i = 0; i < shares.size(); i++) {
        assertThat(shares.get(i).key()).hasToString(one.get("output").get(i).get(0).asString());
        assertThat(addresses.subList(shares.get(i).from(), shares.get(i).to()))
            .isEqualTo(ints(one.get("output").get(i).get(1)));
      }
    }
  }
}
