package io.penstock.node.party;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.penstock.block.CacheSpace;
import io.penstock.node.replay.LoopbackCounter;
import io.penstock.node.replay.LruModel;
import io.penstock.node.replay.ReplayRun;
import io.penstock.node.replay.ReplaySubject;
import io.penstock.node.replay.report.ReplayReport;
import io.penstock.node.replay.report.Tally;
import io.penstock.node.setting.Capacity;
import io.penstock.node.shape.BlockShape;
import io.penstock.node.tiers.TierPlan;
import io.penstock.node.trace.GeneratorOptions;
import io.penstock.node.trace.TraceGenerator;
import io.penstock.node.trace.TraceRequest;
import io.penstock.node.trace.TraceSource;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// The whole replay over real sockets in one process, against the textbook.
@Timeout(120)
final class LoopbackReplayTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final CacheSpace SPACE = BlockShape.of(4 << 10, 4).space("replay");

  private final Scheduler driver = Schedulers.newSingle("replay-test");

  @AfterEach
  void stopDriver() {
    driver.dispose();
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "10, 1", "300, 1", "9223372036854775807, 1", "10, 4", "20, 64"})
  void replay_overSockets_equalsThePlainLruAndLeavesNothing(long capacityBlocks, int concurrency) {
    equalsThePlainLru(FlowPlan.of(SPACE, 1 << 20, concurrency), capacityBlocks, concurrency, 30);
  }

  @Tag("proof")
  @ParameterizedTest
  @CsvSource({"1, 1", "10, 1", "300, 1", "9223372036854775807, 1", "10, 4", "20, 64"})
  void replayOfManyRequests_overSockets_equalsThePlainLruAndLeavesNothing(long capacityBlocks, int concurrency) {
    equalsThePlainLru(FlowPlan.of(SPACE, 1 << 20, concurrency), capacityBlocks, concurrency, 1_000);
  }

  private void equalsThePlainLru(FlowPlan plan, long capacityBlocks, int concurrency, int requests) {
    ReplayReport report =
        replay(plan, capacityBlocks, ReplayPace.defaults().withConcurrency(concurrency), trace(requests));

    assertClean(report);
    assertEqualToModel(report, new LruModel(capacityBlocks), trace(requests));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 20, Long.MAX_VALUE})
  void replay_manyAtATimeOnTheLeastBudget_neverGetsStuck(long capacityBlocks) {
    equalsThePlainLru(leastPlan(64), capacityBlocks, 64, 70);
  }

  @Tag("proof")
  @ParameterizedTest
  @ValueSource(longs = {1, 20, Long.MAX_VALUE})
  void replayOfManyRequests_onTheLeastBudget_neverGetsStuck(long capacityBlocks) {
    equalsThePlainLru(leastPlan(64), capacityBlocks, 64, 1_000);
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 17, 32})
  void puts_manyAtATimeOnTheLeastBudget_neverGetStuck(int windowBlocks) {
    FlowPlan plan = new FlowPlan(SPACE, Math.max(512 << 10, 4L * windowBlocks * SPACE.layout().blockBytes()), 64,
        4 << 10, 1, windowBlocks);
    TraceKeys keys = new TraceKeys(SPACE.id(), 0);

    PartyStat end = Mono.usingWhen(
        LoopbackParties.open(plan, TierPlan.dram(plan.space(), Capacity.UNBOUNDED), keys, driver, System::nanoTime),
        parties -> Flux.range(0, 64).flatMap(put -> parties.prefill().put(ids(100L * put, 100)), 64)
            .then(parties.prefill().stat()),
        Parties::close).block(LIMIT);

    assertThat(end.peakInFlightBytes()).isPositive().isLessThanOrEqualTo(plan.budgetBytes() / 4);
  }

  @Test
  void replay_manyAtATimeWithWindowsThatFillTheMemoryOfPrefill_neverGetsStuck() {
    FlowPlan plan = new FlowPlan(SPACE, 512 << 10, 64, 4 << 10, 1, 17);
    assertThat(plan.prefillSlots()).as("more than a window, less than two").isBetween(18, 33);

    equalsThePlainLru(plan, 50, 64, 80);
  }

  @Test
  void replay_withBlocksLargerThanASlice_isTheSame() {
    FlowPlan plan = new FlowPlan(BlockShape.of(64 << 10, 4).space("replay"), 4 << 20, 1, 8 << 10, 16, 3);

    ReplayReport report = replay(plan, 100, ReplayPace.defaults(), trace(40));

    assertClean(report);
    assertEqualToModel(report, new LruModel(100), trace(40));
  }

  @Test
  void report_namesWhatWasAskedFor() {
    ReplayReport report = replay(FlowPlan.of(SPACE, 1 << 20, 1), 50, ReplayPace.defaults().withLimit(7), trace(20));

    assertThat(report.requests()).isEqualTo(7);
    assertThat(report.blockBytes()).isEqualTo(4 << 10);
    assertThat(report.layers()).isEqualTo(4);
    assertThat(report.budgetBytes()).isLessThanOrEqualTo(1 << 20);
    assertThat(report.peakInFlightBytes()).isPositive().isLessThanOrEqualTo(report.budgetBytes());
    assertThat(report.gigabytesPerSecond()).isPositive();
    assertThat(report.fillByTier()).containsOnlyKeys("dram");
    assertThat(report.fillByTier().get("dram")).isEqualTo(new TierFill(50, 50, 50L));
    assertThat(report.firstLayerMicros().p99()).isGreaterThanOrEqualTo(report.firstLayerMicros().p50()).isPositive();
    assertThat(report.firstLayerMicros().p50() / 1e3).isCloseTo(report.firstLayerMillis().p50(), within(0.001));
    assertThat(report.firstSliceMicros().p50()).isLessThanOrEqualTo(report.firstLayerMicros().p50());
    assertThat(report.overlap()).isBetween(0.0, 1.0);
    assertThat(report.lastLayerMillis().max()).isGreaterThanOrEqualTo(report.firstLayerMillis().max()).isPositive();
  }

  private ReplayReport replay(FlowPlan plan, long capacityBlocks, ReplayPace pace, TraceSource trace) {
    ReplaySubject subject =
        new ReplaySubject("test", plan, Map.of("dram", capacityBlocks + " blocks"), "lru", pace, Map.of());
    TierPlan tier = TierPlan.dram(plan.space(), Capacity.ofBlocks(capacityBlocks));
    TraceKeys keys = new TraceKeys(plan.space().id(), 0);
    return Mono.usingWhen(LoopbackParties.open(plan, tier, keys, driver, System::nanoTime),
        parties -> new ReplayRun(parties, subject, new Tally(), driver, System::nanoTime).report(trace), Parties::close)
        .block(LIMIT);
  }

  /// The plan of the smallest budget that is not refused.
  private static FlowPlan leastPlan(int concurrency) {
    for (long budgetBytes = 4 << 10;; budgetBytes += 4 << 10) {
      try {
        return FlowPlan.of(SPACE, budgetBytes, concurrency);
      } catch (IllegalArgumentException e) {
        assertThat(e).hasMessageStartingWith("budget must be >= ");
      }
    }
  }

  private static void assertClean(ReplayReport report) {
    assertThat(report.isClean()).as("%s", report).isTrue();
    assertThat(report.hitsByTier().values().stream().mapToLong(Long::longValue).sum()).as("hits by tier")
        .isEqualTo(report.hits());
    assertThat(report.repeatedPasses()).isZero();
    if (LoopbackCounter.ofKernel().receivedBytes() != null) {
      assertThat(report.loopbackBytes()).as("loopback bytes").isGreaterThanOrEqualTo(report.bytesDelivered());
    }
  }

  private static void assertEqualToModel(ReplayReport report, LruModel model, TraceSource trace) {
    long requests = 0;
    long hits = 0;
    long prefixHits = 0;
    long blockRefs = 0;
    for (TraceRequest request = trace.next(); request != null; request = trace.next()) {
      LruModel.Outcome outcome = model.request(request.hashIds());
      requests++;
      hits += outcome.hits();
      prefixHits += outcome.prefixHits();
      blockRefs += request.blocks();
    }
    assertThat(new long[] {report.requests(), report.blockRefs(), report.hits(), report.prefixHits()})
        .containsExactly(requests, blockRefs, hits, prefixHits);
  }

  private static List<Long> ids(long first, int count) {
    return LongStream.range(first, first + count).boxed().toList();
  }

  private static TraceSource trace(int requests) {
    return new TraceGenerator(new GeneratorOptions(requests, 9));
  }
}
