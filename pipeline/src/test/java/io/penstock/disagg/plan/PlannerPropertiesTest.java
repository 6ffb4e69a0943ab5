package io.penstock.disagg.plan;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// What holds of every plan, over random topologies: any parallelism on both sides, hybrid models, draft layers, blocks
/// of unequal size and axis order, and any cached prefix.
final class PlannerPropertiesTest {
  @Test
  void everyDecodeRankGetsItsBlocksExactlyOnce() {
    LongStream.range(0, 600).forEach(PlannerPropertiesTest::movesAllBytes);
  }

  @Test
  void bothSidesAgreeAndEveryRankIsReleased() {
    LongStream.range(0, 1_000).forEach(PlannerPropertiesTest::isConsistent);
  }

  /// Random topologies prove little about a kind that they do not reach.
  @Test
  void topologies_reachEveryKind() {
    Map<String, Predicate<Topology>> kinds = Map.of(
        "fewer ranks at prefill", one -> prefill(one).tp() < decode(one).tp(),
        "fewer ranks at decode", one -> prefill(one).tp() > decode(one).tp(),
        "heads that do not divide", one -> heads(one) > 1 && heads(one) % prefill(one).tp() != 0
            && prefill(one).tp() % heads(one) != 0,
        "stages on both sides", one -> prefill(one).pp() > 1 && decode(one).pp() > 1,
        "stages and prefill context", one -> prefill(one).pp() > 1 && prefill(one).pcp() > 1,
        "context at prefill with a cached prefix", one -> prefill(one).contextRanks() > 1
            && one.request().cachedTokens() > 0,
        "decode context on both sides", one -> prefill(one).dcp() > 1 && decode(one).dcp() > 1,
        "context ranks that do not divide", one -> prefill(one).contextRanks() % decode(one).contextRanks() != 0,
        "latents", one -> heads(one) == 1 && prefill(one).tp() > 1,
        "windows", one -> one.prefill().groups().size() > 1);
    kinds.forEach((kind, fits) -> assertThat(LongStream.range(0, 600).mapToObj(Topology::draw).filter(fits).count())
        .as(kind).isGreaterThan(15));
  }

  private static Parallelism prefill(Topology topology) {
    return topology.prefill().parallelism();
  }

  private static Parallelism decode(Topology topology) {
    return topology.decode().parallelism();
  }

  private static int heads(Topology topology) {
    return topology.prefill().groups().getFirst().heads();
  }

  @Tag("proof")
  @Test
  void manyTopologies() {
    LongStream.range(1_000_000, 1_030_000).forEach(seed -> {
      movesAllBytes(seed);
      isConsistent(seed);
    });
  }

  private static TransferPlan plan(Topology topology) {
    return new Planner(topology.prefill(), topology.decode()).plan(topology.request());
  }

  private static void movesAllBytes(long seed) {
    Topology topology = Topology.draw(seed);
    KvRequest request = topology.request();
    Shards source = Shards.empty(topology.prefill(), request.promptTokens());
    Shards moved = Shards.empty(topology.decode(), request.promptTokens());
    Shards expected = Shards.empty(topology.decode(), request.promptTokens());
    for (int group = 0; group < topology.prefill().groups().size(); group++) {
      source.computed(group, 0, request.promptTokens());
      expected.computed(group, firstToken(topology, group), request.promptTokens());
    }
    try {
      plan(topology).transfers().forEach(transfer -> moved.move(transfer, source));
    } catch (AssertionError e) {
      throw new AssertionError("seed " + seed + ": " + e.getMessage() + " in " + topology, e);
    }
    assertThat(moved.sameAs(expected)).as("seed %d: %s", seed, topology).isTrue();
  }

  /// An own statement of what a window needs: the tokens that the next token looks at, from the start of the smaller
  /// block.
  private static int firstToken(Topology topology, int group) {
    int window = topology.prefill().groups().get(group).windowTokens();
    int needed = window == 0 ? 0 : Math.max(0, topology.request().promptTokens() + 1 - window);
    int block = Math.min(topology.prefill().groups().get(group).layout().tokens(),
        topology.decode().groups().get(group).layout().tokens());
    while (needed % block != 0) {
      needed--;
    }
    return Math.max(needed, topology.request().cachedTokens());
  }

  private static void isConsistent(long seed) {
    Topology topology = Topology.draw(seed);
    TransferPlan plan = plan(topology);
    assertThat(plan(Topology.draw(seed)).transfers()).as("the other side's plan, seed %d", seed)
        .isEqualTo(plan.transfers());
    Map<Rank, Set<Rank>> senders = new HashMap<>();
    plan.transfers().forEach(
        transfer -> senders.computeIfAbsent(transfer.destination(), r -> new HashSet<>()).add(transfer.source()));
    Set<Rank> pulled = new HashSet<>();
    int completions = 0;
    for (Rank reader : topology.decode().parallelism().allRanks()) {
      assertThat(plan.senders(reader)).as("senders to %s, seed %d", reader, seed)
          .isEqualTo(senders.getOrDefault(reader, Set.of()));
      pulled.addAll(plan.senders(reader));
      completions += plan.senders(reader).size();
    }
    List<Rank> all = new ArrayList<>(plan.neverPulled());
    all.addAll(pulled);
    assertThat(all).as("never pulled and pulled, seed %d", seed)
        .containsExactlyInAnyOrderElementsOf(topology.prefill().parallelism().allRanks());
    assertThat(topology.prefill().parallelism().allRanks().stream().mapToInt(rank -> plan.readers(rank).size()).sum())
        .as("completions that prefill waits for, seed %d", seed).isEqualTo(completions);
  }
}
