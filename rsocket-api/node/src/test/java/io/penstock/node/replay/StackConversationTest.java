package io.penstock.node.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.block.CacheSpace;
import io.penstock.node.party.FlowPlan;
import io.penstock.node.replay.StackReplay.Counts;
import io.penstock.node.replay.report.ReplayReport;
import io.penstock.node.setting.Capacity;
import io.penstock.node.shape.BlockShape;
import io.penstock.node.tiers.DiskPlan;
import io.penstock.node.tiers.TierPlan;
import io.penstock.node.trace.TraceReader;
import io.penstock.node.trace.TraceSource;
import io.penstock.storage.EngineKind;
import io.penstock.tier.StackOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// The published conversation trace, whole, through device memory, host memory and disk: hits as a plain LRU of all of
/// them has.
@Tag("proof")
@Timeout(900)
final class StackConversationTest {
  private static final Path TRACE = Path.of("../../../shared/traces/conversation_trace.jsonl");
  private static final CacheSpace SPACE = BlockShape.of(4 << 10, 4).space("replay");
  private static final FlowPlan FLOW = FlowPlan.of(SPACE, 8 << 20, 1);
  private static final Duration LIMIT = Duration.ofMinutes(10);

  @TempDir
  private Path folder;

  @BeforeEach
  void requireTrace() {
    assumeTrue(Files.exists(TRACE), () -> "no trace at " + TRACE + ", see the README on where to get it");
  }

  @ParameterizedTest
  @EnumSource
  void threeLevels_hitAsTheLruOfTenThousand(EngineKind engine) {
    assertTenThousand(new StackReplay(FLOW, plan(2_000, 3_000, 5_000, engine), LIMIT).inOneProcess(trace()));
  }

  @Test
  void threeLevels_inThreeProcesses_hitAsTheLruOfTenThousand() {
    assertTenThousand(new StackReplay(FLOW, plan(2_000, 3_000, 5_000, EngineKind.CHRONICLE), LIMIT)
        .inThreeProcesses(trace(), folder));
  }

  @ParameterizedTest
  @EnumSource
  void memoryAndDisk_hitAsTheLruOfBoth(EngineKind engine) {
    TierPlan plan = plan(0, 2_000, 50_000, engine);

    ReplayReport report = new StackReplay(FLOW, plan, LIMIT).inOneProcess(trace());

    StackReplay.assertClean(report, "dram", "ssd");
    assertThat(Counts.of(report)).isEqualTo(textbook(52_000));
    assertThat(report.hitsByTier().values()).as("%s", report.hitsByTier()).allMatch(hits -> hits > 0);
  }

  @ParameterizedTest
  @EnumSource
  void writtenThrough_hitAsTheLruOfTheDisk(EngineKind engine) {
    TierPlan plan = plan(2_000, 3_000, 10_000, engine).withMode(StackOptions.Mode.WRITE_THROUGH);

    assertTenThousand(new StackReplay(FLOW, plan, LIMIT).inOneProcess(trace()));
  }

  private static void assertTenThousand(ReplayReport report) {
    StackReplay.assertClean(report, "hbm", "dram", "ssd");
    assertThat(Counts.of(report)).isEqualTo(textbook(10_000));
    assertThat(report.hits()).isEqualTo(60_921);
    assertThat(report.hitsByTier().values()).as("%s", report.hitsByTier()).allMatch(hits -> hits > 0);
    assertThat(report.bytesVerified()).isEqualTo(288_500L * SPACE.layout().blockBytes());
  }

  private TierPlan plan(int hbm, int dram, int ssd, EngineKind engine) {
    return TierPlan.dram(SPACE, Capacity.ofBlocks(dram)).withHbm(Capacity.ofBlocks(hbm))
        .withSsd(Capacity.ofBlocks(ssd),
            DiskPlan.in(folder.resolve("ssd")).withEngine(engine).withSegmentBytes(64 << 20));
  }

  private static Counts textbook(long capacityBlocks) {
    return Counts.ofTextbook(capacityBlocks, StackConversationTest::trace);
  }

  private static TraceSource trace() {
    return TraceReader.open(TRACE);
  }
}
