package io.penstock.gateway.simulate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.gateway.choice.Policy;
import io.penstock.node.CommandLineRun;
import io.penstock.node.cli.CommandFactory;
import io.penstock.node.cli.Console;
import io.penstock.node.trace.GeneratorOptions;
import io.penstock.node.trace.PeekedTrace;
import io.penstock.node.trace.TraceReading;
import io.penstock.node.trace.TraceRequest;
import io.penstock.node.trace.Workload;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/// What the choice of an instance by its blocks is worth.
final class FleetTest {
  private static final Path CONVERSATIONS = Path.of("../../../shared/traces/conversation_trace.jsonl");
  private static final FleetOptions EIGHT =
      new FleetOptions(8, 1000, 10_000, 1_000_000, Duration.ofMillis(20), Duration.ofMillis(50), 1, 1);

  private static final List<Fleet.Request> AGENTS = new ArrayList<>();
  private static int blockTokens;

  @BeforeAll
  static void generate() {
    try (PeekedTrace trace =
        PeekedTrace.of(Workload.parse("--workload", "agents").open(new GeneratorOptions(1500, 1)))) {
      blockTokens = trace.blockTokens();
      read(trace, AGENTS, Integer.MAX_VALUE);
    }
  }

  private static void read(PeekedTrace trace, List<Fleet.Request> to, int most) {
    for (TraceRequest request = trace.next(); request != null && to.size() < most; request = trace.next()) {
      to.add(new Fleet.Request(request.timestampMillis(), request.inputTokens(), request.outputTokens(),
          Fleet.names(request.hashIds())));
    }
  }

  private static FleetResult play(SimulatedPolicy policy) {
    return new Fleet(EIGHT, policy, blockTokens).play(AGENTS, 0);
  }

  @Test
  void agents_hitOnceAndAHalfAsOftenAsByChance_andNearlyAsOftenAsWithAnOracle() {
    FleetResult prefix = play(SimulatedPolicy.of(Policy.PREFIX));
    FleetResult random = play(SimulatedPolicy.of(Policy.RANDOM));
    FleetResult turns = play(SimulatedPolicy.of(Policy.ROUND_ROBIN));
    FleetResult oracle = play(SimulatedPolicy.ORACLE);
    FleetResult silent = play(SimulatedPolicy.silent());
    assertThat(prefix.blocks()).isEqualTo(random.blocks()).isGreaterThan(100_000);
    assertThat(prefix.hitRate()).isGreaterThan(1.3 * random.hitRate()).isGreaterThan(1.3 * turns.hitRate());
    assertThat(prefix.hitBlocks()).isGreaterThan((long) (0.9 * oracle.hitBlocks()));
    assertThat(silent.hitBlocks()).as("without events").isGreaterThan((long) (0.9 * oracle.hitBlocks()));
    assertThat(prefix.p50Millis()).isLessThan(random.p50Millis());
    assertThat(prefix.mostLoaded()).isLessThan(3);
  }

  @Test
  void equalSeeds_giveEqualResults() {
    for (Policy policy : List.of(Policy.RANDOM, Policy.PREFIX)) {
      assertThat(play(SimulatedPolicy.of(policy))).isEqualTo(play(SimulatedPolicy.of(policy)));
    }
  }

  @Test
  void oneCacheForAll_hitsAtLeastAsOftenAsTheOracle() {
    assertThat(play(SimulatedPolicy.POOLED).hitBlocks())
        .isGreaterThanOrEqualTo(play(SimulatedPolicy.ORACLE).hitBlocks());
  }

  private static CommandLineRun simulate(String... arguments) {
    return CommandLineRun.of(console -> new CommandLine(SimulateCommand.class, new CommandFactory(console)), Map.of(),
        new byte[0], arguments);
  }

  @Test
  void command_printsEveryPolicy() {
    CommandLineRun run = simulate("--workload", "agents", "--requests", "200", "--capacity", "1000");
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out()).contains("200 requests on 8 instances", "round_robin", "random", "load", "prefix, no events",
        "(oracle)", "(one cache)");
  }

  @Test
  void command_needsOneTrace_andOptionsWithinTheirRules() {
    assertThatThrownBy(() -> call()).hasMessage("TRACE or --workload must be given (was neither)");
    assertThatThrownBy(() -> call("a.jsonl", "--workload", "agents")).hasMessageContaining("(was both)");
    assertThatThrownBy(() -> call("--workload", "agents", "--instances", "65"))
        .hasMessageContaining("instances must be in [1, 64] (was 65)");
  }

  private static void call(String... arguments) {
    SimulateCommand command = new SimulateCommand(Console.ofProcess());
    new CommandLine(command).parseArgs(arguments);
    command.call();
  }

  /// The public conversation trace, 8 instances of 4,000 blocks.
  @Test
  @Tag("proof")
  void conversationTrace_hitsThreeTimesAsOftenAsByChance() {
    conversations(Integer.MAX_VALUE, 4000, 3);
  }

  /// Its first sixth, and caches that are as much smaller.
  @Test
  void startOfTheConversationTrace_hitsTwiceAsOftenAsByChance() {
    conversations(2000, 700, 2);
  }

  /// @param times how often `prefix` hits where chance hits once
  private static void conversations(int requests, int capacity, int times) {
    assumeTrue(Files.isReadable(CONVERSATIONS), "no readable file " + CONVERSATIONS);
    List<Fleet.Request> conversations = new ArrayList<>();
    int tokens;
    try (PeekedTrace trace = PeekedTrace.of(new TraceReading().open(CONVERSATIONS, Console.ofProcess()))) {
      tokens = trace.blockTokens();
      read(trace, conversations, requests);
    }
    FleetOptions options = new FleetOptions(8, capacity, 10_000, 1_000_000, Duration.ofMillis(20),
        Duration.ofMillis(50), 1, 1);
    long prefix = new Fleet(options, SimulatedPolicy.of(Policy.PREFIX), tokens).play(conversations, 0).hitBlocks();
    long random = new Fleet(options, SimulatedPolicy.of(Policy.RANDOM), tokens).play(conversations, 0).hitBlocks();
    long oracle = new Fleet(options, SimulatedPolicy.ORACLE, tokens).play(conversations, 0).hitBlocks();
    assertThat(prefix).isGreaterThan(times * random).isGreaterThan((long) (0.9 * oracle));
  }
}
