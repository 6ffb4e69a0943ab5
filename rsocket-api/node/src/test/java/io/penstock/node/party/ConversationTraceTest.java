package io.penstock.node.party;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.budget.Permits;
import io.penstock.node.replay.LoopbackCounter;
import io.penstock.node.replay.Replay;
import io.penstock.node.replay.ReplayRun;
import io.penstock.node.replay.ReplaySubject;
import io.penstock.node.replay.report.ReplayReport;
import io.penstock.node.replay.report.Tally;
import io.penstock.node.setting.Capacity;
import io.penstock.node.shape.BlockShape;
import io.penstock.node.tiers.TierPlan;
import io.penstock.node.trace.TraceReader;
import io.penstock.stack.HostTier;
import io.penstock.tier.TierListener;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// The published conversation trace, whole, with small blocks: hits as an independent count of a plain LRU gives them.
@Timeout(600)
final class ConversationTraceTest {
  private static final Path TRACE = Path.of("../../../shared/traces/conversation_trace.jsonl");
  private static final CacheSpace SPACE = BlockShape.of(256, 4).space("replay");
  private static final CacheSpace WIRE_SPACE = BlockShape.of(4 << 10, 4).space("replay");

  @Test
  void conversationTrace_hitsAsThePlainLru() {
    assertHits(1_000, 12_831);
  }

  @Tag("proof")
  @ParameterizedTest
  @CsvSource({"5000, 31840", "10000, 60921", "30000, 93967", "50000, 102290", "100000, 104924",
    "9223372036854775807, 105710"})
  void conversationTrace_hitsAsThePlainLru_atEveryCapacity(long capacityBlocks, long hits) {
    assertHits(capacityBlocks, hits);
  }

  @Tag("proof")
  @ParameterizedTest
  @CsvSource({"1000, 12831", "5000, 31840", "10000, 60921", "30000, 93967", "50000, 102290", "100000, 104924",
    "9223372036854775807, 105710"})
  void conversationTrace_overSockets_hitsAsThePlainLru(long capacityBlocks, long hits) {
    requireTrace();

    ReplayReport report = overSockets(capacityBlocks);

    assertThat(report.isClean()).as("%s", report).isTrue();
    assertThat(report.repeatedPasses()).isZero();
    assertThat(report.requests()).isEqualTo(12_031);
    assertThat(report.blockRefs()).isEqualTo(288_500);
    assertThat(report.hits()).isEqualTo(hits);
    assertThat(report.bytesVerified()).isEqualTo(report.bytesDelivered())
        .isEqualTo(288_500L * WIRE_SPACE.layout().blockBytes());
    if (LoopbackCounter.ofKernel().receivedBytes() != null) {
      assertThat(report.loopbackBytes()).as("loopback bytes").isGreaterThanOrEqualTo(report.bytesDelivered());
    }
  }

  private static ReplayReport overSockets(long capacityBlocks) {
    FlowPlan plan = FlowPlan.of(WIRE_SPACE, 8 << 20, 1);
    ReplaySubject subject = new ReplaySubject("conversation", plan, Map.of("dram", capacityBlocks + " blocks"), "lru",
        ReplayPace.defaults(), Map.of());
    TraceKeys keys = new TraceKeys(WIRE_SPACE.id(), 0);
    Scheduler driver = Schedulers.newSingle("replay-test");
    try (TraceReader trace = TraceReader.open(TRACE)) {
      return Mono
          .usingWhen(
              LoopbackParties.open(plan, TierPlan.dram(plan.space(), Capacity.ofBlocks(capacityBlocks)), keys, driver,
                  System::nanoTime),
              parties -> new ReplayRun(parties, subject, new Tally(), driver, System::nanoTime).report(trace),
              Parties::close)
          .block(Duration.ofMinutes(8));
    } finally {
      driver.dispose();
    }
  }

  private static void requireTrace() {
    assumeTrue(Files.exists(TRACE), () -> "no trace at " + TRACE + ", see the README on where to get it");
  }

  private static void assertHits(long capacityBlocks, long hits) {
    requireTrace();
    Scheduler driver = Schedulers.newSingle("replay-test");
    HostTier tier = new HostTier(SPACE, capacityBlocks, TierListener.noop());
    Tally tally = new Tally();
    try (TraceReader trace = TraceReader.open(TRACE);
        SlabArena produced = new SlabArena("prefill", SPACE.layout(), 256, 64)) {
      TraceKeys keys = new TraceKeys(SPACE.id(), 0);
      SliceShape shape = new SliceShape(64, 16 << 10, SliceShape.Order.LAYER_FIRST, 0);
      DecodeParty decode = new Decoder(tier, shape, keys, tier.arena(),
          new Permits("none", 1, 1), System::nanoTime);
      PrefillParty prefill = new Prefiller(tier, shape, keys, produced);
      new Replay(decode, prefill, ReplayPace.defaults(), driver).deliveries(trace).doOnNext(tally::add)
          .blockLast(Duration.ofMinutes(2));
    } finally {
      tier.close().block(Duration.ofSeconds(5));
      driver.dispose();
    }
    Tally.Sums sums = tally.sums();
    assertThat(sums.requests()).isEqualTo(12_031);
    assertThat(sums.blockRefs()).isEqualTo(288_500);
    assertThat(sums.hits()).isEqualTo(hits);
    assertThat(sums.bytesVerified()).isEqualTo(sums.bytesDelivered()).isEqualTo(288_500L * SPACE.layout().blockBytes());
  }
}
