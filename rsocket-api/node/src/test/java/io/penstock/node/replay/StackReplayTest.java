package io.penstock.node.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.CacheSpace;
import io.penstock.block.EvictionPolicy;
import io.penstock.node.party.FlowPlan;
import io.penstock.node.party.TierFill;
import io.penstock.node.replay.StackReplay.Counts;
import io.penstock.node.replay.report.ReplayReport;
import io.penstock.node.serve.QuickStart;
import io.penstock.node.setting.Capacity;
import io.penstock.node.shape.BlockShape;
import io.penstock.node.tiers.DiskPlan;
import io.penstock.node.tiers.TierPlan;
import io.penstock.node.trace.GeneratorOptions;
import io.penstock.node.trace.TraceGenerator;
import io.penstock.node.trace.TraceSource;
import io.penstock.storage.EngineKind;
import io.penstock.tier.StackOptions;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/// Levels of a few blocks, over sockets and on real files: together they are one LRU, whichever engine keeps the
/// lowest.
@Timeout(180)
@ExtendWith(QuickStart.class)
final class StackReplayTest {
  private static final CacheSpace SPACE = BlockShape.of(4 << 10, 4).space("replay");
  private static final FlowPlan FLOW = FlowPlan.of(SPACE, 4 << 20, 1);
  private static final Duration LIMIT = Duration.ofSeconds(90);

  @TempDir
  private Path folder;

  @ParameterizedTest
  @EnumSource
  void threeLevels_equalTheLruOfTheirSum_andOneLevelOfTheSameSize(EngineKind engine) {
    ReplayReport stack = new StackReplay(FLOW, plan(60, 90, 150, engine), LIMIT).inOneProcess(trace());
    ReplayReport one = new StackReplay(FLOW, TierPlan.dram(SPACE, Capacity.ofBlocks(300)), LIMIT).inOneProcess(trace());

    StackReplay.assertClean(stack, "hbm", "dram", "ssd");
    assertThat(Counts.of(stack)).isEqualTo(textbook(300)).isEqualTo(Counts.of(one));
    assertThat(stack.hitsByTier().values()).as("%s", stack.hitsByTier()).allMatch(hits -> hits > 0);
    assertThat(stack.fillByTier().values()).extracting(TierFill::blocks).containsExactly(60L, 90L, 150L);
  }

  @ParameterizedTest
  @EnumSource(names = {"S3_FIFO", "REUSE_AWARE"})
  void threeLevels_hitAsOneLedgerOfTheirSum(EvictionPolicy policy) {
    compareWithALedger(policy, 50);
  }

  @Tag("proof")
  @ParameterizedTest
  @EnumSource
  void threeLevels_ofManyRequests_hitAsOneLedgerOfTheirSum(EvictionPolicy policy) {
    compareWithALedger(policy, 1_000);
  }

  private void compareWithALedger(EvictionPolicy policy, int requests) {
    TierPlan plan = plan(60, 90, 150, EngineKind.PLAIN).withPolicy(policy);

    ReplayReport report = new StackReplay(FLOW, plan, LIMIT).inOneProcess(trace(requests));

    StackReplay.assertClean(report, "hbm", "dram", "ssd");
    assertThat(report.hits()).as("%s", policy).isPositive().isEqualTo(StackReplay.hits(policy, 300, trace(requests)));
    assertThat(report.fillByTier().values()).extracting(TierFill::blocks).containsExactly(60L, 90L, 150L);
  }

  @Tag("proof")
  @ParameterizedTest
  @EnumSource
  void threeLevels_ofManyRequests_equalTheLruOfTheirSum(EngineKind engine) {
    ReplayReport stack = new StackReplay(FLOW, plan(60, 90, 150, engine), LIMIT).inOneProcess(trace(1_000));

    StackReplay.assertClean(stack, "hbm", "dram", "ssd");
    assertThat(Counts.of(stack)).isEqualTo(Counts.ofTextbook(300, () -> trace(1_000)));
  }

  @ParameterizedTest
  @EnumSource
  void writtenThrough_equalTheLruOfTheDisk(EngineKind engine) {
    TierPlan plan = plan(40, 80, 200, engine).withMode(StackOptions.Mode.WRITE_THROUGH);

    ReplayReport report = new StackReplay(FLOW, plan, LIMIT).inOneProcess(trace());

    StackReplay.assertClean(report, "hbm", "dram", "ssd");
    assertThat(Counts.of(report)).isEqualTo(textbook(200));
    assertThat(report.hitsByTier().values()).as("%s", report.hitsByTier()).allMatch(hits -> hits > 0);
  }

  @ParameterizedTest
  @CsvSource({"1, 1, 1", "1, 30, 1", "0, 100, 400", "100, 0, 200", "0, 0, 250", "50, 0, 0", "16, 200, 0"})
  void anyLevelsThatAreOn_equalTheLruOfTheirSum(int hbm, int dram, int ssd) {
    ReplayReport report = new StackReplay(FLOW, plan(hbm, dram, ssd, EngineKind.PLAIN), LIMIT).inOneProcess(trace());

    StackReplay.assertClean(report, report.capacities().keySet().toArray(String[]::new));
    assertThat(Counts.of(report)).isEqualTo(textbook(hbm + dram + ssd));
  }

  @Test
  void threeLevels_inThreeProcesses_areAsInOne() {
    TierPlan plan = plan(60, 90, 150, EngineKind.CHRONICLE);

    ReplayReport report = new StackReplay(FLOW, plan, LIMIT).inThreeProcesses(trace(40), folder);

    StackReplay.assertClean(report, "hbm", "dram", "ssd");
    assertThat(Counts.of(report)).isEqualTo(Counts.ofTextbook(300, () -> trace(40)));
    assertThat(report.hitsByTier().values()).as("%s", report.hitsByTier()).allMatch(hits -> hits > 0);
  }

  private TierPlan plan(int hbm, int dram, int ssd, EngineKind engine) {
    return TierPlan.dram(SPACE, Capacity.ofBlocks(dram)).withHbm(Capacity.ofBlocks(hbm))
        .withSsd(Capacity.ofBlocks(ssd),
            DiskPlan.in(folder.resolve("ssd")).withEngine(engine).withSegmentBytes(1 << 20));
  }

  private static Counts textbook(long capacityBlocks) {
    return Counts.ofTextbook(capacityBlocks, StackReplayTest::trace);
  }

  private static TraceSource trace() {
    return trace(50);
  }

  private static TraceSource trace(int requests) {
    return new TraceGenerator(new GeneratorOptions(requests, 11));
  }
}
