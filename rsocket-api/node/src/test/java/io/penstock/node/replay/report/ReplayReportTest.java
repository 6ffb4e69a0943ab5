package io.penstock.node.replay.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.link.StreamTimes;
import io.penstock.node.party.TierCopies;
import io.penstock.node.party.TierFill;
import io.penstock.node.shape.ModelSize;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class ReplayReportTest {
  private static final ModelSize LLAMA = new ModelSize("llama-3.1-8b", 512, 64L << 20, 10_000);
  private static final Map<String, TierFill> FILL = Map.of("dram", new TierFill(990, 1_000, 1_000L));
  private static final ReplayReport REPORT =
      new ReplayReport("0.1.0", "conversation_trace.jsonl", "one JVM over loopback TCP", 65_536, 8,
          ModelBlocks.of(LLAMA, new ModelPayload(65_536, 8, Map.of()), FILL),
          new Reuse(144_793_823, 6_569_472, 10_000, 14_479.382, 656.947,
              new Reuse.Ceiling(182_790, 182_790L * (64 << 20), 105_710, 0.366412, 54_098_411, 5_409.841), null),
          Map.of("dram", LLAMA.words(1_000)), "lru", 1, 12_031, 288_500, 12_831, 11_000, 0.044475,
          Map.of("dram", 12_831L),
          FILL,
          Map.of("hbm", new TierCopies("npu0", 12_000, 3.25, 2_555_904_000L, 1, 0)), 18_907_136_000L, 18_907_136_000L,
          38_000_000_000L, 0, 0, 0, 20_000_000, 33_554_432, 17.25, 1.096066, 1.25,
          new Micros(310, 640, 1_120, 2_250, 3_500), new Micros(400, 900, 2_500, 4_125, 7_000),
          new Latency(0.4, 0.9, 2.5, 4.125, 7), new Latency(0.8, 1.9, 4.5, 9, 12), 0.475,
          Map.of("get", new StreamTimes.Times(12_031, 3.125, 9.5)), Map.of("memory copy", 9.5),
          new PolicyHits("lru", 1_000L, 12_831), Map.of());

  @Test
  void json_isAsWrittenDown() throws IOException {
    assertThat(ReportJson.of(REPORT)).isEqualTo(resource("report.json"));
  }

  @Test
  void table_isAsWrittenDownInEveryLocale() throws IOException {
    Locale before = Locale.getDefault();
    Locale.setDefault(Locale.GERMANY);
    try {
      assertThat(ReportTable.of(REPORT)).isEqualTo(resource("report.txt"));
    } finally {
      Locale.setDefault(before);
    }
  }

  @Test
  void loopback_whereNoKernelCounts_isAbsent() {
    assertThat(ReportJson.of(with(0, 0, 1, 1))).doesNotContain("loopback");
    assertThat(ReportTable.of(with(0, 0, 1, 1))).doesNotContain("loopback");
  }

  @Test
  void isClean_onlyWhenAllCameAndAllWasRight() {
    assertThat(REPORT.isClean()).isTrue();
    assertThat(with(1, 0, 18_907_136_000L, 1).isClean()).as("corrupt").isFalse();
    assertThat(with(0, 1, 18_907_136_000L, 1).isClean()).as("leaked").isFalse();
    assertThat(with(0, 0, 18_907_070_464L, 1).isClean()).as("a block short").isFalse();
    assertThat(with(0, 0, 18_907_136_000L, 33_554_433).isClean()).as("over budget").isFalse();
  }

  /// A level that was off has other hits than the policy: the report does not call that clean.
  @Test
  void levelThatWasOff_andOtherHitsThanThePolicy_areNotClean() {
    ReplayReport off = with(1, new PolicyHits("lru", 1_000L, 1), Map.of("ssd", "off: no answer within 5000 ms"));
    assertThat(off.isClean()).isFalse();
    assertThat(ReportTable.of(off))
        .contains("LEVEL ssd         WAS OFF: no answer within 5000 ms. Hits are not those of the");
    ReplayReport fewer = with(8_034, new PolicyHits("lru", 1_000L, 8_094), Map.of());
    assertThat(fewer.isClean()).isFalse();
    assertThat(ReportTable.of(fewer).replaceAll("\\s+", " "))
        .contains("8,094 hits of lru over 1,000 blocks without bytes, NOT as here: 60 fewer");
    assertThat(ReplayPage.of(fewer, RunSeries.of(Timeline.ofRun()), List.of()))
        .contains("the hits are not those of lru, which has 8,094").doesNotContain("Every byte came and");
    assertThat(with(8_094, new PolicyHits("lru", null, 8_094), Map.of()).isClean()).isTrue();
  }

  private static ReplayReport with(long hits, PolicyHits alone, Map<String, String> troubles) {
    ReplayReport r = REPORT;
    return new ReplayReport(r.penstock(), r.trace(), r.parties(), r.blockBytes(), r.layers(), r.model(), r.reuse(),
        r.capacities(), r.policy(), r.concurrency(), r.requests(), r.blockRefs(), hits, r.prefixHits(), r.hitRate(),
        r.hitsByTier(), r.fillByTier(), r.copiesByTier(), r.bytesDelivered(), r.bytesVerified(), r.loopbackBytes(),
        r.corruptBlocks(), r.leakedBlocks(), r.repeatedPasses(), r.peakInFlightBytes(), r.budgetBytes(),
        r.elapsedSeconds(), r.gigabytesPerSecond(), r.steadyGigabytesPerSecond(), r.firstSliceMicros(),
        r.firstLayerMicros(), r.firstLayerMillis(), r.lastLayerMillis(), r.overlap(), r.times(),
        r.ceilingsGigabytesPerSecond(), alone,
        troubles);
  }

  private static ReplayReport with(long corrupt, long leaked, long delivered, long peak) {
    return new ReplayReport("0.1.0", "t", "p", 65_536, 8, REPORT.model(), REPORT.reuse(), Map.of(), "lru", 1, 12_031,
        288_500, 1, 1, 0, Map.of(),
        Map.of(), Map.of(), delivered, delivered,
        null, corrupt, leaked, 0, peak, 33_554_432, 1, 1, 1, new Micros(0, 0, 0, 0, 0), new Micros(0, 0, 0, 0, 0),
        new Latency(0, 0, 0, 0, 0), new Latency(0, 0, 0, 0, 0), 0, Map.of(), Map.of(), null, Map.of());
  }

  private static String resource(String name) throws IOException {
    try (InputStream in = ReplayReportTest.class.getResourceAsStream(name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
