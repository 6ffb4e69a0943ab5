package io.penstock.node.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.node.party.DecodeParty;
import io.penstock.node.party.LedgerState;
import io.penstock.node.party.Parties;
import io.penstock.node.party.PartyStat;
import io.penstock.node.party.PrefillParty;
import io.penstock.node.replay.report.RunSeries;
import io.penstock.node.replay.report.Tally;
import io.penstock.node.replay.report.Timeline;
import io.penstock.node.replay.report.TimelinePoint;
import io.penstock.tier.Medium;
import io.penstock.tier.TierStat;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.PackedHistogram;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;
import reactor.test.scheduler.VirtualTimeScheduler;

/// A run of any length in a bounded number of points, and nothing of it lost.
@Timeout(30)
final class TimelineTest {
  private static final Duration PERIOD = Duration.ofMillis(100);
  private static final Duration LIMIT = Duration.ofSeconds(5);

  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();

  @AfterEach
  void stopTime() {
    time.dispose();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 8, 9, 16, 17, 60, 99})
  void sample_howeverMany_staysBoundedAndKeepsEverySum(int samples) {
    Timeline timeline = new Timeline(8, PERIOD);
    timeline.start(0, stat(100, 40, 0, 0));
    long nanos = 0;
    for (int i = 1; i <= samples; i++) {
      nanos += timeline.period().toNanos();
      timeline.sample(nanos, interval(i, i * 1_000L), stat(100 + 2L * i, 40 + 3L * i, i, 0));
      assertThat(timeline.points()).hasSizeLessThanOrEqualTo(8);
    }
    RunSeries series = RunSeries.of(timeline);

    assertThat(timeline.points().size()).isGreaterThanOrEqualTo(Math.min(samples, 5));
    assertThat(series.seconds()).isSorted().doesNotHaveDuplicates().last().isEqualTo(nanos / 1e9);
    assertThat(sum(series.requests())).isEqualTo(samples);
    assertThat(sum(series.bytesDelivered())).isEqualTo(64L * samples);
    assertThat(sum(series.hitsByTier().get("dram"))).isEqualTo(2L * samples);
    assertThat(sum(series.misses())).isEqualTo(3L * samples);
    assertThat(timeline.points().stream().mapToLong(point -> point.firstLayers().getTotalCount()).sum())
        .isEqualTo(samples);
    assertThat(series.inFlightBytes()).last().isEqualTo((long) samples);
  }

  @Test
  void sample_oneTooMany_mergesNeighboursAndDoublesThePeriod() {
    Timeline timeline = new Timeline(4, PERIOD);
    timeline.start(1_000, stat(0, 0, 0, 0));
    for (int i = 1; i <= 5; i++) {
      timeline.sample(1_000 + i * 10L, interval(i, i * 1_000_000L), stat(i, i, i == 1 ? 90 : i, 10L * i));
    }

    assertThat(timeline.period()).isEqualTo(Duration.ofMillis(200));
    assertThat(timeline.points()).extracting(TimelinePoint::nanos).containsExactly(20L, 40L, 50L);
    RunSeries series = RunSeries.of(timeline);
    assertThat(series.requests()).containsExactly(2L, 2L, 1L);
    assertThat(series.inFlightBytes()).as("the most of both").containsExactly(90L, 4L, 5L);
    assertThat(series.blocksByTier()).isEqualTo(Map.of("dram", List.of(20L, 40L, 50L)));
    assertThat(series.capacityBlocksByTier()).isEqualTo(Map.of("dram", 1_000L));
    assertThat(series.firstLayerMicros().get("p99").get(0)).isBetween(1_980L, 2_020L);
    assertThat(series.firstLayerMicros().get("p50").get(0)).isBetween(990L, 1_010L);
  }

  @Test
  void end_soonAfterASample_countsToThatPoint() {
    Timeline timeline = new Timeline(4, PERIOD);
    timeline.start(0, stat(0, 0, 0, 0));
    timeline.sample(PERIOD.toNanos(), interval(1, 5), stat(1, 1, 1, 1));
    timeline.end(PERIOD.toNanos() + 1_000, interval(2, 5), stat(2, 2, 0, 2));

    assertThat(timeline.points()).hasSize(1);
    assertThat(RunSeries.of(timeline).requests()).containsExactly(2L);
  }

  @Test
  void series_whereNoRequestEnded_hasNoPercentile() {
    Timeline timeline = new Timeline(4, PERIOD);
    timeline.start(0, stat(0, 0, 0, 0));
    timeline.sample(7, new Tally().interval(), stat(0, 0, 0, 0));

    assertThat(RunSeries.of(timeline).firstLayerMicros().get("p50")).containsExactly((Long) null);
  }

  @ParameterizedTest
  @ValueSource(ints = {-2, 0, 1, 7})
  void timeline_ofAnOddNumber_isRefused(int maxPoints) {
    assertThatThrownBy(() -> new Timeline(maxPoints, PERIOD))
        .hasMessage("maxPoints must be even and >= 2 (was " + maxPoints + ")");
  }

  @Test
  void during_inVirtualTime_samplesOncePerPeriodAndAsksOncePerSample() {
    Timeline timeline = new Timeline(4, PERIOD);
    Asked parties = new Asked(Mono.just(stat(1, 2, 3, 4)));

    StepVerifier
        .create(sampler(timeline).during(parties, Mono.delay(Duration.ofMillis(1_150), time).thenReturn("done")))
        .then(() -> time.advanceTimeBy(Duration.ofMillis(1_149)))
        .then(() -> assertThat(timeline.points()).extracting(point -> point.nanos() / 1_000_000).containsExactly(400L,
            700L, 900L))
        .then(() -> time.advanceTimeBy(Duration.ofMillis(1)))
        .expectNext("done").expectComplete().verify(LIMIT);

    assertThat(timeline.points()).extracting(point -> point.nanos() / 1_000_000).containsExactly(400L, 700L, 900L,
        1_150L);
    assertThat(parties.times).as("start, seven samples, end").isEqualTo(9);
    time.advanceTimeBy(Duration.ofSeconds(5));
    assertThat(parties.times).as("after the end").isEqualTo(9);
  }

  @Test
  void during_whereAnswersTakeLong_asksSeldom() {
    Timeline timeline = new Timeline(4, PERIOD);
    Asked parties = new Asked(Mono.delay(Duration.ofMillis(10), time).thenReturn(stat(1, 2, 3, 4)));

    StepVerifier.create(sampler(timeline).during(parties, Mono.delay(Duration.ofMillis(630), time).thenReturn("done")))
        .then(() -> time.advanceTimeBy(Duration.ofSeconds(2)))
        .expectNext("done").expectComplete().verify(LIMIT);

    assertThat(timeline.points()).extracting(point -> point.nanos() / 1_000_000).as("310, and 620 with the end at 640")
        .containsExactly(310L, 640L);
  }

  @Test
  void during_whoseSamplesFail_stillEndsAsTheRun() {
    Asked parties = new Asked(Mono.just(stat(1, 2, 3, 4)));

    StepVerifier
        .create(sampler(new Timeline(4, PERIOD)).during(parties,
            Mono.delay(Duration.ofSeconds(1), time).then(Mono.error(new IllegalStateException("the run")))))
        .then(() -> parties.answer = Mono.error(new IllegalStateException("no answer")))
        .then(() -> time.advanceTimeBy(Duration.ofSeconds(2)))
        .expectErrorMessage("the run").verify(LIMIT);
  }

  private Sampler sampler(Timeline timeline) {
    return new Sampler(timeline, new Tally(), time, () -> time.now(TimeUnit.NANOSECONDS));
  }

  /// The sums after `requests` requests of 64 bytes, the last of which saw its first slice after `nanos`.
  private static Tally.Interval interval(int requests, long nanos) {
    PackedHistogram first = new PackedHistogram(3_600_000_000_000L, 2);
    first.recordValue(nanos);
    return new Tally.Interval(new Tally.Sums(requests, requests, 0, 0, 64L * requests, 0, 0, 0), first);
  }

  private static PartyStat stat(long hits, long misses, long inFlightBytes, long blocks) {
    return new PartyStat(inFlightBytes, inFlightBytes, 1 << 20, 0,
        new LedgerState(misses, List.of(new TierStat.Level("dram", Medium.HOST, 1_000, blocks, blocks, hits, blocks))));
  }

  private static long sum(List<Long> values) {
    return values.stream().mapToLong(Long::longValue).sum();
  }

  /// Counts how often it was asked.
  private static final class Asked implements Parties {
    private Mono<PartyStat> answer;
    private int times;

    Asked(Mono<PartyStat> answer) {
      this.answer = answer;
    }

    @Override
    public Mono<PartyStat> stat() {
      times++;
      return answer;
    }

    @Override
    public String description() {
      return "a party of figures";
    }

    @Override
    public DecodeParty decode() {
      throw new IllegalStateException("only figures are asked for");
    }

    @Override
    public PrefillParty prefill() {
      throw new IllegalStateException("only figures are asked for");
    }

    @Override
    public Mono<Void> close() {
      return Mono.empty();
    }
  }
}
