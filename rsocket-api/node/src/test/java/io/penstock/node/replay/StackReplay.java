package io.penstock.node.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.EvictionPolicy;
import io.penstock.block.SpaceId;
import io.penstock.node.option.RecordOptions;
import io.penstock.node.party.FlowPlan;
import io.penstock.node.party.LoopbackParties;
import io.penstock.node.party.Parties;
import io.penstock.node.party.ProcessParties;
import io.penstock.node.party.ReplayPace;
import io.penstock.node.party.TraceKeys;
import io.penstock.node.replay.report.ReplayReport;
import io.penstock.node.replay.report.Tally;
import io.penstock.node.tiers.TierPlan;
import io.penstock.node.trace.TraceRequest;
import io.penstock.node.trace.TraceSource;
import io.penstock.pool.Ledger;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// Replays of a trace through a stack of levels, strictly one request after the other, and what the textbook says about
/// them.
final class StackReplay {
  private static final int WAITERS = 4096;

  private final FlowPlan flow;
  private final TierPlan kept;
  private final Duration limit;

  /// @param kept what the node keeps; its windows and waiters are those of a replay
  /// @param limit on the whole replay
  StackReplay(FlowPlan flow, TierPlan kept, Duration limit) {
    this.flow = flow;
    this.kept = kept.withWindowBlocks(flow.windowBlocks()).withWaiters(WAITERS);
    this.limit = limit;
  }

  /// Node, decode and prefill in this process, over real sockets.
  ReplayReport inOneProcess(TraceSource trace) {
    return run(trace,
        driver -> LoopbackParties.open(flow, kept, new TraceKeys(flow.space().id(), 0), driver, System::nanoTime)
            .map(parties -> parties));
  }

  /// Node, decode and prefill in three processes.
  ///
  /// @param logs folder for what they say
  ReplayReport inThreeProcesses(TraceSource trace, Path logs) {
    return run(trace,
        driver -> ProcessParties.open(flow, TierFlags.arguments(kept), logs, driver, new RecordOptions())
            .map(parties -> parties));
  }

  private interface Opening {
    Mono<Parties> open(Scheduler driver);
  }

  private ReplayReport run(TraceSource trace, Opening opening) {
    ReplaySubject subject = new ReplaySubject("test", flow, kept.capacities(), "lru", ReplayPace.defaults(), Map.of());
    Scheduler driver = Schedulers.newSingle("replay-test");
    try (trace) {
      return Mono.usingWhen(opening.open(driver),
          parties -> new ReplayRun(parties, subject, new Tally(), driver, System::nanoTime).report(trace),
          Parties::close).block(limit);
    } finally {
      driver.dispose();
    }
  }

  /// What a replay counts.
  record Counts(long requests, long blockRefs, long hits, long prefixHits) {
    static Counts of(ReplayReport report) {
      return new Counts(report.requests(), report.blockRefs(), report.hits(), report.prefixHits());
    }

    /// As a plain LRU of `capacityBlocks` has it.
    static Counts ofTextbook(long capacityBlocks, Supplier<TraceSource> source) {
      LruModel model = new LruModel(capacityBlocks);
      Counts counts = new Counts(0, 0, 0, 0);
      try (TraceSource trace = source.get()) {
        for (TraceRequest request = trace.next(); request != null; request = trace.next()) {
          LruModel.Outcome outcome = model.request(request.hashIds());
          counts = new Counts(counts.requests + 1, counts.blockRefs + request.blocks(), counts.hits + outcome.hits(),
              counts.prefixHits + outcome.prefixHits());
        }
      }
      return counts;
    }
  }

  /// The hits of a ledger of one level.
  static long hits(EvictionPolicy policy, long capacityBlocks, TraceSource source) {
    SpaceId space = new SpaceId(0, 0);
    Ledger<Boolean> ledger = new Ledger<>(space, policy, capacityBlocks);
    long hits = 0;
    try (TraceSource trace = source) {
      for (TraceRequest request = trace.next(); request != null; request = trace.next()) {
        List<BlockKey> keys = new TraceKeys(space, 0).of(request.hashIds());
        for (int i = 0; i < keys.size(); i++) {
          if (ledger.touch(keys.get(i), i, (key, value, level) -> {}) != null) {
            hits++;
          } else {
            ledger.insert(keys.get(i), true, i, (key, value, level) -> {});
          }
        }
      }
    }
    return hits;
  }

  /// Every byte came and was right, nothing leaked, the budget held, and each hit is one of exactly one of these
  /// levels.
  static void assertClean(ReplayReport report, String... levels) {
    assertThat(report.isClean()).as("clean: %s", report).isTrue();
    assertThat(report.repeatedPasses()).as("repeated passes: %s", report).isZero();
    assertThat(report.hitsByTier()).as("levels: %s", report).containsOnlyKeys(levels);
    assertThat(report.hitsByTier().values().stream().mapToLong(Long::longValue).sum())
        .as("hits by tier: %s", report.hitsByTier())
        .isEqualTo(report.hits());
  }
}
