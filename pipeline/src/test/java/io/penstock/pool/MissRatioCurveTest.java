package io.penstock.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.pool.curve.HitRateCurve;
import io.penstock.pool.curve.MissRatioCurve;
import io.penstock.pool.curve.MissRatioOptions;
import io.penstock.pool.curve.StackDistances;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.LongFunction;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class MissRatioCurveTest {
  private static final SpaceId SPACE = new SpaceId(1, 2);
  private static final int SEEDS = 10;
  private static final double MOST_ERROR = 0.02;
  private static final long[] CAPACITIES = {300, 1_000, 3_000, 10_000, 20_000, 30_000, 50_000, 100_000};

  @Test
  void conversationTrace_atRateOneTenth_isWithinTwoPoints() {
    List<BlockKey> trace = ConversationTrace.references(SPACE);

    double[] exact = exact(trace);
    assertThat(new double[] {exact[1], exact[3], exact[5], exact[6], exact[7]}).as("hits of a plain LRU")
        .usingComparatorWithPrecision(1e-9)
        .containsExactly(share(12_831), share(60_921), share(93_967), share(102_290), share(104_924));
    assertMeanErrors(trace, seed -> MissRatioOptions.ofRate(0.1, seed));
  }

  private static double share(int hits) {
    return hits / 288_500.0;
  }

  @Test
  void popularKeys_atRateOneTenth_areWithinTwoPoints() {
    assertMeanErrors(zipf(200_000, 40_000, 1), seed -> MissRatioOptions.ofRate(0.1, seed));
  }

  @Test
  void popularKeys_withFewSamples_areWithinTwoPoints() {
    assertMeanErrors(zipf(200_000, 40_000, 2), seed -> MissRatioOptions.ofSamples(4_096, seed));
  }

  private static void assertMeanErrors(List<BlockKey> trace, LongFunction<MissRatioOptions> options) {
    double[] exact = exact(trace);
    double all = 0;
    for (long seed = 0; seed < SEEDS; seed++) {
      HitRateCurve curve = curve(trace, options.apply(seed));
      double error = 0;
      for (int i = 0; i < CAPACITIES.length; i++) {
        error += Math.abs(curve.at(CAPACITIES[i]).hitRate() - exact[i]) / CAPACITIES.length;
      }
      assertThat(error).as("mean absolute error, seed %d", seed).isLessThanOrEqualTo(2 * MOST_ERROR);
      all += error / SEEDS;
    }
    assertThat(all).as("mean absolute error").isLessThanOrEqualTo(MOST_ERROR);
  }

  /// An interval of 95 % holds the exact hit rate in 95 of 100 cases: not in fewer, and not in all. All cases of a seed
  /// share one sample, so the seeds are many and the tolerance is some points.
  @Test
  void intervals_holdTheExactHitRate_in95Of100Cases() {
    Coverage coverage = coverage(250);
    assertThat(coverage.held).as("share of intervals").isBetween(0.9, 0.985);
    assertThat(coverage.gainsHeld).as("share of gains").isBetween(0.87, 0.99);
    assertThat(coverage.width / coverage.error).as("widths in root mean square errors").isBetween(1.7, 2.6);
  }

  @Tag("proof")
  @Test
  void intervals_holdTheExactHitRate_in95Of100Cases_ofManySeeds() {
    Coverage coverage = coverage(1_000);
    assertThat(coverage.held).as("share of intervals").isBetween(0.91, 0.975);
  }

  /// @param error root of the mean square error
  private record Coverage(double held, double gainsHeld, double width, double error) {}

  private static Coverage coverage(int seeds) {
    List<BlockKey> trace = zipf(80_000, 16_000, 3);
    long[] capacities = {1_000, 3_000, 6_000, 10_000};
    double[] exact = exact(trace, capacities);
    int held = 0;
    int gainsHeld = 0;
    double widths = 0;
    double squares = 0;
    for (long seed = 0; seed < seeds; seed++) {
      HitRateCurve curve = curve(trace, MissRatioOptions.ofRate(0.1, seed));
      for (int i = 0; i < capacities.length; i++) {
        HitRateCurve.Point point = curve.at(capacities[i]);
        double error = point.hitRate() - exact[i];
        held += Math.abs(error) <= point.plusMinus() ? 1 : 0;
        squares += error * error;
        widths += point.plusMinus();
        HitRateCurve.Point gain = curve.gain(capacities[0], capacities[i]);
        gainsHeld += i == 0 || Math.abs(gain.hitRate() - (exact[i] - exact[0])) <= gain.plusMinus() ? 1 : 0;
      }
    }
    double all = seeds * capacities.length;
    return new Coverage(held / all, gainsHeld / all, widths / all, Math.sqrt(squares / all));
  }

  @Test
  void whereEveryKeyIsSampled_theCurveIsExact() {
    List<BlockKey> trace = zipf(20_000, 1_000, 4);
    double[] exact = exact(trace);

    HitRateCurve curve = curve(trace, MissRatioOptions.ofSamples(1_000, 5));

    assertThat(curve.rate()).isEqualTo(1);
    assertThat(curve.references()).isEqualTo(20_000);
    for (int i = 0; i < 2; i++) {
      assertThat(curve.at(CAPACITIES[i]).hitRate()).isCloseTo(exact[i], within(0.002));
      assertThat(curve.at(CAPACITIES[i]).plusMinus()).isZero();
    }
  }

  @Test
  void ageing_followsTheLoad() {
    long halfLife = 10_000;
    MissRatioOptions ageing = new MissRatioOptions(1, 4_096, 100_000, halfLife, 6);
    MissRatioCurve curve = new MissRatioCurve(SPACE, ageing);
    MissRatioCurve everlasting = new MissRatioCurve(SPACE, MissRatioOptions.ofSamples(4_096, 6));
    for (int i = 0; i < 50_000; i++) { // 100 keys in turn: a cache of 100 hits always
      curve.access(key(i % 100));
      everlasting.access(key(i % 100));
    }
    assertThat(curve.curve().at(110).hitRate()).isGreaterThan(0.99);
    for (int i = 0; i < 6 * halfLife; i++) { // then 2,000 keys in turn: a cache of 1,000 never hits
      curve.access(key(1_000 + i % 2_000));
      everlasting.access(key(1_000 + i % 2_000));
    }
    assertThat(curve.curve().at(1_000).hitRate()).isCloseTo(Math.pow(0.5, 6), within(0.02));
    assertThat(curve.curve().at(2_200).hitRate()).isGreaterThan(0.9);
    assertThat(everlasting.curve().at(1_000).hitRate()).isGreaterThan(0.4);
  }

  @Test
  void distancesUpToTheDepth_areTold() {
    MissRatioCurve curve = new MissRatioCurve(SPACE, new MissRatioOptions(1, 4_096, 100, 1L << 40, 6));
    for (int i = 0; i < 1_000; i++) { // 100 keys in turn: the first 100 references miss
      curve.access(key(i % 100));
    }
    assertThat(curve.curve().at(90).hitRate()).isZero();
    assertThat(curve.curve().at(100).hitRate()).isCloseTo(0.9, within(1e-9));
    for (int i = 0; i < 1_000; i++) { // 101 keys in turn: too deep
      curve.access(key(1_000 + i % 101));
    }
    assertThat(curve.curve().at(200).hitRate()).isCloseTo(0.45, within(1e-9));
    assertThat(curve.curve().samples()).isEqualTo(100);
  }

  @Test
  void endlesslyManyKeys_keepMemoryAndRate() {
    int held = 0;
    for (long seed = 0; seed < SEEDS; seed++) {
      MissRatioCurve curve = new MissRatioCurve(SPACE, new MissRatioOptions(1, 1_000, 50_000, 100_000, seed));
      for (int i = 0; i < 500_000; i++) { // every fourth reference is to one of 1,000 keys in turn: 4,000 keys apart
        curve.access(key(i % 4 == 0 ? i / 4 % 1_000 : 10_000 + i));
      }
      HitRateCurve after = curve.curve();
      assertThat(after.samples()).as("samples, seed %d", seed).isBetween(500, 1_000);
      assertThat(after.rate()).as("rate, seed %d", seed).isBetween(0.7 * 1_000 / 50_000, 1.1 * 1_000 / 50_000);
      HitRateCurve.Point gain = after.gain(2_000, 6_000);
      held += Math.abs(gain.hitRate() - 0.25) <= gain.plusMinus() ? 1 : 0;
    }
    assertThat(held).as("seeds whose interval holds the exact gain").isGreaterThanOrEqualTo(8);
  }

  @Test
  void keysThatAreAskedForAndNotWritten_stayAbsent() {
    MissRatioCurve curve = new MissRatioCurve(SPACE, MissRatioOptions.ofSamples(100, 8));
    for (int i = 0; i < 3; i++) {
      curve.reference(key(1));
      curve.count(1);
    }
    assertThat(curve.curve().at(1_000).hitRate()).isZero();
    curve.enter(key(1));
    curve.reference(key(1));
    curve.count(1);
    assertThat(curve.curve().at(1).hitRate()).isEqualTo(0.25);
  }

  @Test
  void aRemovedKey_missesInCachesOfAnyCapacity() {
    MissRatioCurve curve = new MissRatioCurve(SPACE, MissRatioOptions.ofSamples(100, 9));
    curve.access(key(1));
    curve.remove(key(1));
    curve.access(key(1));
    assertThat(curve.curve().at(1_000).hitRate()).isZero();
  }

  @Test
  void withoutSamples_thereIsNoCurve() {
    MissRatioCurve curve = new MissRatioCurve(SPACE, MissRatioOptions.live(1_000, 0, 10));
    LongStream.range(0, 10_000).forEach(i -> curve.access(key(i % 10)));
    assertThat(curve.curve().points()).isEmpty();
    assertThat(curve.curve().samples()).isZero();
  }

  @Test
  void aLiveCurve_coversEightTimesTheCapacity_orAsMuchAsItsSamplesCan() {
    assertThat(MissRatioOptions.live(10_000, 8_192, 0).depthBlocks()).isEqualTo(80_000);
    assertThat(MissRatioOptions.live(Long.MAX_VALUE, 8_192, 0).depthBlocks()).isEqualTo(8_192L << 14);
    assertThat(MissRatioOptions.live(1, 8_192, 0).depthBlocks()).isEqualTo(1_024);
  }

  @Test
  void options_thatMakeNoSense_areRefused() {
    assertThatThrownBy(() -> MissRatioOptions.ofRate(0, 1)).hasMessage("rate must be in (0, 1] (was 0.0)");
    assertThatThrownBy(() -> MissRatioOptions.ofSamples(-1, 1))
        .hasMessage("mostSamples must be in [0, 16777216] (was -1)");
  }

  @Test
  void between_points_theHitRateIsOnALine() {
    HitRateCurve curve = new HitRateCurve(10, 1, 10, 100,
        List.of(HitRateCurve.Point.exact(10, 0.2), HitRateCurve.Point.exact(20, 0.4)));
    assertThat(curve.at(5).hitRate()).isCloseTo(0.1, within(1e-9));
    assertThat(curve.at(10).hitRate()).isEqualTo(0.2);
    assertThat(curve.at(15).hitRate()).isCloseTo(0.3, within(1e-9));
    assertThat(curve.at(30).hitRate()).isEqualTo(0.4);
    assertThat(curve.gain(10, 15).hitRate()).isCloseTo(0.1, within(1e-9));
  }

  @Test
  void distances_areThoseOfAList() {
    for (long seed = 0; seed < 20; seed++) {
      Random random = new Random(seed);
      StackDistances distances = new StackDistances(SPACE);
      List<BlockKey> model = new ArrayList<>(); // least recently used first
      for (int i = 0; i < 2_000; i++) {
        BlockKey key = key(random.nextInt(150));
        int expected = model.contains(key) ? model.size() - model.indexOf(key) : 0;
        model.remove(key);
        switch (random.nextInt(12)) {
          case 0 -> distances.remove(key);
          case 1 -> {
            distances.remove(key);
            if (!model.isEmpty()) {
              assertThat(distances.size()).isEqualTo(model.size());
              distances.removeOldest();
              model.removeFirst();
            }
          }
          case 2 -> {
            distances.retain(each -> each.hash().low() % 7 != 0 && !each.equals(key));
            model.removeIf(each -> each.hash().low() % 7 == 0);
          }
          default -> {
            assertThat(distances.use(key)).as("seed %d, step %d", seed, i).isEqualTo(expected);
            if (expected == 0) {
              distances.enter(key);
            }
            model.add(key);
          }
        }
      }
      assertThat(distances.size()).isEqualTo(model.size());
    }
  }

  private static HitRateCurve curve(List<BlockKey> trace, MissRatioOptions options) {
    MissRatioCurve curve = new MissRatioCurve(SPACE, options);
    trace.forEach(curve::access);
    return curve.curve();
  }

  /// The exact hit rates at [#CAPACITIES], by the textbook policy.
  private static double[] exact(List<BlockKey> trace) {
    return exact(trace, CAPACITIES);
  }

  private static double[] exact(List<BlockKey> trace, long... capacities) {
    StackDistances distances = new StackDistances(SPACE);
    long[] hits = new long[capacities.length];
    for (BlockKey key : trace) {
      int distance = distances.use(key);
      if (distance == 0) {
        distances.enter(key);
      }
      for (int i = 0; i < hits.length; i++) {
        hits[i] += distance > 0 && distance <= capacities[i] ? 1 : 0;
      }
    }
    return Arrays.stream(hits).mapToDouble(each -> (double) each / trace.size()).toArray();
  }

  /// References to `keys` keys, of which the first are the most popular.
  private static List<BlockKey> zipf(int references, int keys, long seed) {
    double[] sums = new double[keys];
    double sum = 0;
    for (int i = 0; i < keys; i++) {
      sum += Math.pow(i + 1, -0.8);
      sums[i] = sum;
    }
    Random random = new Random(seed);
    List<BlockKey> trace = new ArrayList<>();
    for (int i = 0; i < references; i++) {
      int place = Arrays.binarySearch(sums, random.nextDouble() * sum);
      trace.add(key(place < 0 ? -place - 1 : place));
    }
    return trace;
  }

  private static BlockKey key(long number) {
    return new BlockKey(SPACE, new BlockHash(0, number));
  }
}
