package io.penstock.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.flow.LoadPrefix.Part;
import io.penstock.flow.LoadPrefix.Plan;
import io.penstock.flow.LoadPrefix.Rate;
import io.penstock.flow.LoadPrefix.Reason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Blocks of 1 MB and 100 tokens; the engine computes a block in 10 ms.
final class FetchPlannerTest {
  private static final long BLOCK = 1_000_000;
  private static final Rate DRAM = new Rate(10e9, 0, 0); // 0.1 ms a block
  private static final Rate FAST_DISK = new Rate(1e9, 1_000_000, 0); // 1 ms, and 1 ms a block
  private static final Rate SLOW_DISK = new Rate(50e6, 1_000_000, 0); // 1 ms, and 20 ms a block

  private static Plan plan(Part... parts) {
    return FetchPlanner.fastest(List.of(parts), BLOCK, 100, 10_000);
  }

  private static Part part(String place, int blocks, @Nullable Rate rate) {
    return new Part(place, blocks, rate);
  }

  @Test
  void fastLevel_isFetched_slowOneComputed() {
    assertThat(plan(part("ssd", 100, FAST_DISK)))
        .isEqualTo(new Plan(List.of(part("ssd", 100, FAST_DISK)), 100, Reason.FETCH, 101_000_000, 101_000_000,
            1_000_000_000));
    assertThat(plan(part("ssd", 100, SLOW_DISK)))
        .isEqualTo(new Plan(List.of(part("ssd", 100, SLOW_DISK)), 0, Reason.COMPUTE, 1_000_000_000, 2_001_000_000,
            1_000_000_000));
    assertThat(plan()).isEqualTo(new Plan(List.of(), 0, Reason.MISS, 0, 0, 0));
  }

  @Test
  void fastPartBeforeASlowOne_isFetchedAlone() {
    Plan plan = plan(part("dram", 60, DRAM), part("ssd", 40, SLOW_DISK));
    assertThat(plan.fetchBlocks()).isEqualTo(60);
    assertThat(plan.reason()).isEqualTo(Reason.PART);
    assertThat(plan.planNanos()).isEqualTo(6_000_000 + 400_000_000);
  }

  /// Ten blocks of the slow disk cost 101 ms more than their computation, the fast blocks behind them save 990 ms.
  @Test
  void slowPartBeforeAFastOne_isFetchedForItsSake() {
    assertThat(plan(part("ssd", 10, SLOW_DISK), part("dram", 100, DRAM)).fetchBlocks()).isEqualTo(110);
    assertThat(plan(part("ssd", 100, SLOW_DISK), part("dram", 100, DRAM)).fetchBlocks()).isZero();
  }

  @Test
  void latency_isPaidOnceAPlace_andQueuedBytesComeFirst() {
    Rate distant = new Rate(1e9, 95_000_000, 0);
    assertThat(plan(part("peer", 10, distant)).fetchBlocks()).as("105 ms, not 100").isZero();
    assertThat(plan(part("peer", 8, distant), part("dram", 1, DRAM), part("peer", 8, distant)).fetchBlocks())
        .as("111.1 ms, not 170").isEqualTo(17);
    Rate busy = new Rate(1e9, 1_000_000, 100 * BLOCK);
    assertThat(plan(part("ssd", 10, busy)).reason()).as("111 ms, not 100").isEqualTo(Reason.COMPUTE);
  }

  @Test
  void equalTimes_fetch() {
    assertThat(plan(part("ssd", 10, new Rate(100e6, 0, 0))).reason()).isEqualTo(Reason.FETCH);
  }

  @Test
  void levelWithoutAnEstimate_isFetched_andSaysSo() {
    assertThat(plan(part("ssd", 10, null)).reason()).isEqualTo(Reason.UNKNOWN);
    assertThat(plan(part("slow", 10, SLOW_DISK), part("ssd", 20, null)).fetchBlocks()).isEqualTo(30);
    assertThat(plan(part("slow", 30, SLOW_DISK), part("ssd", 10, null)).reason()).isEqualTo(Reason.COMPUTE);
    assertThat(FetchPlanner.all(List.of(part("ssd", 10, SLOW_DISK))).reason()).isEqualTo(Reason.OFF);
  }

  /// No prefix, also none that ends within a part, takes less time than the plan.
  @Test
  void plansAtRandom_areTheFastest() {
    for (int seed = 0; seed < 200; seed++) {
      Random random = new Random(seed);
      List<Rate> rates = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        rates.add(new Rate(Math.pow(10, 7 + 3 * random.nextDouble()), random.nextInt(100_000_000),
            random.nextInt(10) * BLOCK));
      }
      List<Part> parts = new ArrayList<>();
      for (int i = 0; i < random.nextInt(6); i++) {
        int place = random.nextInt(rates.size());
        parts.add(part("level " + place, 1 + random.nextInt(20), rates.get(place)));
      }
      Plan plan = FetchPlanner.fastest(parts, BLOCK, 100, 10_000);
      long best = Long.MAX_VALUE;
      for (int blocks = 0; blocks <= plan.foundBlocks(); blocks++) {
        best = Math.min(best, time(parts, blocks));
      }
      assertThat(plan.planNanos()).as("seed %d", seed).isBetween(best - 100, best + 100);
      assertThat(time(parts, plan.fetchBlocks())).as("seed %d", seed).isBetween(best - 100, best + 100);
    }
  }

  private static long time(List<Part> parts, int blocks) {
    long time = 0;
    int left = blocks;
    Map<String, Long> bytes = new TreeMap<>();
    Map<String, Rate> rates = new TreeMap<>();
    for (Part part : parts) {
      int taken = Math.min(left, part.blocks());
      bytes.merge(part.place(), taken * BLOCK, Long::sum);
      rates.put(part.place(), part.rate());
      left -= taken;
      time += (part.blocks() - taken) * Duration.ofMillis(10).toNanos();
    }
    for (Map.Entry<String, Long> one : bytes.entrySet()) {
      time += one.getValue() == 0 ? 0 : rates.get(one.getKey()).nanos(one.getValue());
    }
    return time;
  }
}
