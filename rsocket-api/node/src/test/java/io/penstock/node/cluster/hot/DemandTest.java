package io.penstock.node.cluster.hot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.testkit.Blocks;
import io.penstock.tier.Presence;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

final class DemandTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final long SECOND = 1_000_000_000;

  private long now = 7;
  private final Demand demand = new Demand(Duration.ofSeconds(5), () -> now);

  private static BlockKey key(long number) {
    return Blocks.key(SPACE, number);
  }

  private void read(BlockKey key, long bytes) {
    BitSet all = new BitSet();
    all.set(0);
    demand.read(List.of(key), Presence.of(1, all), bytes);
  }

  @Test
  void rate_ofASteadyReader_isItsRate_andHalvesWithEachHalfLife() {
    for (int i = 0; i < 10_000; i++) {
      now += SECOND / 100;
      read(key(1), 1000);
    }
    assertThat(demand.rate(key(1))).isCloseTo(100_000, Percentage.withPercentage(1));
    now += 5 * SECOND;
    assertThat(demand.rate(key(1))).isCloseTo(50_000, Percentage.withPercentage(1));
    now += 20 * SECOND;
    assertThat(demand.rate(key(1))).isCloseTo(3125, Percentage.withPercentage(1));
    assertThat(demand.rate(key(2))).isZero();
  }

  @Test
  void onlyBlocksThatWereFound_count() {
    BitSet found = new BitSet();
    found.set(1);
    demand.read(List.of(key(0), key(1)), Presence.of(2, found), 1 << 20);
    assertThat(demand.above(0)).containsOnlyKeys(key(1));
  }

  @Test
  void hotKeys_amongManyCold_areFoundWithTheirRates_andNoColdOneIs() {
    long seed = 5;
    Random random = new Random(seed);
    for (int i = 0; i < 400_000; i++) {
      now += SECOND / 10_000;
      read(key(random.nextInt(10) == 0 ? random.nextInt(4) : 100 + random.nextInt(1_000_000)), 1000);
    }
    assertThat(demand.above(2_000)).as("seed " + seed).containsOnlyKeys(key(0), key(1), key(2), key(3))
        .allSatisfy((key, rate) -> assertThat(rate).isCloseTo(250_000, Percentage.withPercentage(10)));
  }

  @Test
  void keysThatAreKnown_areBounded_whateverIsRead() {
    for (int i = 0; i < 20_000; i++) {
      read(key(i), 1000);
    }
    assertThat(demand.above(-1)).hasSize(Demand.KEYS);
  }

  @Test
  void scale_changesWhatWasReadSoFar_notWhatComes() {
    read(key(1), 1000);
    double before = demand.rate(key(1));
    demand.scale(key(1), 0.25);
    demand.scale(key(9), 4);
    assertThat(demand.rate(key(1))).isCloseTo(before / 4, within(1e-6));
    read(key(1), 1000);
    assertThat(demand.rate(key(1))).isCloseTo(before * 1.25, within(1e-6));
  }

  @Test
  void monthsLater_ratesAreRightStill() {
    read(key(1), 1L << 40);
    for (int month = 0; month < 24; month++) {
      now += Duration.ofDays(30).toNanos();
      assertThat(demand.rate(key(1))).isCloseTo(0, within(1e-9));
      for (int i = 0; i < 6_000; i++) {
        now += SECOND / 100;
        read(key(1), 1000);
      }
      assertThat(demand.rate(key(1))).isCloseTo(100_000, Percentage.withPercentage(1));
      now += Duration.ofMinutes(42).toNanos(); // near an epoch
    }
  }

  @Test
  void countingARead_costsLittle() {
    List<BlockKey> keys = Blocks.keys(SPACE, 0, 4096);
    BitSet all = new BitSet();
    all.set(0, keys.size());
    Presence found = Presence.of(keys.size(), all);
    long best = Long.MAX_VALUE;
    for (int round = 0; round < 60; round++) {
      long begin = System.nanoTime();
      demand.read(keys, found, 1 << 20);
      best = Math.min(best, System.nanoTime() - begin);
    }
    System.out.println("a read counts in " + best / keys.size() + " ns a key");
    assertThat(best / keys.size()).as("ns a key").isLessThan(2000);
  }
}
