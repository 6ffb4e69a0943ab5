package io.penstock.lab.bench.cluster;

import io.penstock.block.CacheSpace;
import io.penstock.check.Checks;
import io.penstock.node.shape.BlockShape;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Sizes of all scenarios.
///
/// @param nodes null for as many as a scenario has by itself
/// @param blockBytes of a block of 16 tokens
/// @param dramBytes of a node; null for as many as a scenario has by itself
/// @param trace null for one that is made from `seed`
/// @param requests most of the trace
/// @param together requests under way at a time
/// @param time of a load under which something happens
/// @param tokens of a prompt
/// @param rounds whose median counts
record ClusterLoad(@Nullable Integer nodes, int blockBytes, @Nullable Long dramBytes, @Nullable Path trace,
    int requests, int together, Duration time, int tokens, int rounds, long seed) {
  private static final String MODEL = "cluster-bench";
  private static final List<String> QUICK = List.of("-XX:TieredStopAtLevel=1");

  ClusterLoad {
    Checks.positive("--requests", requests);
    Checks.positive("--concurrency", together);
    Checks.positive("--seconds", time);
    Checks.positive("--tokens", tokens);
    Checks.positive("--rounds", rounds);
    if (nodes != null) {
      Checks.positive("--nodes", nodes);
    }
  }

  int nodesOr(int own) {
    return nodes == null ? own : nodes;
  }

  long dramOr(long own) {
    return dramBytes == null ? own : dramBytes;
  }

  CacheSpace space() {
    return BlockShape.of(blockBytes, 1).space(MODEL);
  }

  Requests prompts() {
    return Requests.of(trace, requests, seed, space());
  }

  /// Flags of any command for the space.
  List<String> spaceFlags() {
    return List.of("--model", MODEL, "--layers", "1", "--block-bytes", String.valueOf(blockBytes), "--block-tokens",
        String.valueOf(space().layout().tokens()));
  }

  /// Flags of `serve` for the blocks, of which `dram` bytes are in memory.
  List<String> flags(long dram, String... more) {
    List<String> flags = new ArrayList<>(spaceFlags());
    flags.addAll(List.of("--dram", String.valueOf(dram), "--policy", "lru", "--whatif-samples", "0"));
    flags.addAll(List.of(more));
    return flags;
  }

  /// Flags of the JVM of a node whose speed does not count.
  static List<String> quick() {
    return QUICK;
  }
}
