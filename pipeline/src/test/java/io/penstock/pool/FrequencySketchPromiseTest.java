package io.penstock.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockKey;
import io.penstock.pool.evict.FrequencySketch;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What the papers of [FrequencySketch] promise: never too low, seldom too high, and aged by half.
@Timeout(30)
final class FrequencySketchPromiseTest {
  /// Uses of a window for each expected key.
  private static final int USES_A_KEY = 10;

  private static BlockKey key(long id) {
    return EvictionOrderTest.key(id);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, Long.MIN_VALUE, (1L << 28) + 1, Long.MAX_VALUE})
  void wrongSizes_areRefused(long keys) {
    assertThatThrownBy(() -> new FrequencySketch(keys)).isInstanceOf(IllegalArgumentException.class)
        .hasMessage("expectedKeys must be in (0, 268435456] (was " + keys + ")");
  }

  @ParameterizedTest
  @ValueSource(longs = {2, 15, 16, 17, 1024, 1025})
  void sketchOfAnySize_countsAKeyOneByOne_andStopsAtTheMost(long keys) {
    FrequencySketch sketch = new FrequencySketch(keys);
    BlockKey key = key(7);
    assertThat(sketch.estimate(key)).isZero();
    for (int use = 1; use <= FrequencySketch.MOST + 5; use++) {
      int expected = Math.min(use, FrequencySketch.MOST);
      assertThat(sketch.use(key)).isEqualTo(expected);
      assertThat(sketch.estimate(key)).isEqualTo(expected);
    }
  }

  @Test
  void estimate_isNoUse() {
    FrequencySketch sketch = new FrequencySketch(16);
    sketch.use(key(1));
    for (int i = 0; i < 1_000; i++) {
      assertThat(sketch.estimate(key(1))).isEqualTo(1);
    }
  }

  /// With 16 keys a window has 160 uses. A halving halves them, too, less half a use for each odd counter.
  @Test
  void halving_comesAfterTenUsesAKey_thenAfterFive() {
    FrequencySketch sketch = new FrequencySketch(16);
    int window = 16 * USES_A_KEY;
    for (int i = 1; i < window; i++) {
      sketch.use(key(i % 40));
    }
    assertThat(sketch.estimate(key(1))).isEqualTo(4);
    sketch.use(key(0));
    assertThat(sketch.estimate(key(1))).as("4 / 2").isEqualTo(2);
    for (int i = 1; i < window / 2; i++) {
      sketch.use(key(i % 40));
    }
    assertThat(sketch.estimate(key(1))).as("2 / 2, or 2 + 2 uses").isBetween(2, 4);
  }

  /// Caffeine's rule: a key that is always used must not age the others.
  @Test
  void usesOfAFullCounter_countForNoWindow() {
    FrequencySketch sketch = new FrequencySketch(16);
    sketch.use(key(2));
    for (int i = 0; i < 1_000; i++) {
      sketch.use(key(1));
    }
    assertThat(sketch.estimate(key(1))).isEqualTo(FrequencySketch.MOST);
    assertThat(sketch.estimate(key(2))).isEqualTo(1);
  }

  @Test
  void halving_reachesKeysThatAreNotUsed() {
    int keys = 4_096;
    FrequencySketch sketch = new FrequencySketch(keys);
    for (int i = 0; i < 12; i++) {
      sketch.use(key(0));
    }
    int window = keys * USES_A_KEY;
    for (int used = 12; used < window - 1; used++) {
      sketch.use(key(1 + used % 4_000));
    }
    assertThat(sketch.estimate(key(0))).as("before the end of the window").isGreaterThanOrEqualTo(12);
    for (int used = 0; used < 1_000; used++) { // uses of full counters were not counted
      sketch.use(key(1 + used));
    }
    assertThat(sketch.estimate(key(0))).as("halved once").isBetween(6, 11);
    for (int used = 0; used < 6 * window; used++) {
      sketch.use(key(1 + used % 4_000));
    }
    assertThat(sketch.estimate(key(0))).as("as a key that was never used").isEqualTo(fresh(window));
  }

  private static int fresh(int window) {
    FrequencySketch sketch = new FrequencySketch(window / USES_A_KEY);
    for (int used = 12; used < 7 * window + 12; used++) {
      sketch.use(key(1 + used % 4_000));
    }
    return sketch.estimate(key(0));
  }

  /// Exact counters of one window.
  private static final class Plain {
    private final double[] exact;

    Plain(int keys) {
      exact = new double[keys];
    }

    void use(int key) {
      exact[key] = Math.min(FrequencySketch.MOST, exact[key] + 1);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void estimates_areNeverBelowExactCounters_andSeldomFarAbove(int seed) {
    int keys = 2_000;
    Random random = new Random(seed);
    FrequencySketch sketch = new FrequencySketch(keys);
    Plain plain = new Plain(keys);
    long checks = 0;
    long far = 0;
    for (int step = 0; step < keys * USES_A_KEY; step++) {
      int key = (int) (keys * random.nextDouble() * random.nextDouble() * random.nextDouble());
      sketch.use(key(key));
      plain.use(key);
      if (step % 7 == 0) {
        int asked = random.nextInt(keys);
        int estimate = sketch.estimate(key(asked));
        if (estimate < plain.exact[asked]) {
          throw new AssertionError("seed %d, step %d: key %d must be estimated at %f or more (was %d)".formatted(seed,
              step, asked, plain.exact[asked], estimate));
        }
        checks++;
        far += estimate > plain.exact[asked] + 2 ? 1 : 0;
      }
    }
    assertThat((double) far / checks).as("estimates too high by 3 or more, seed %d", seed).isLessThan(0.05);
  }

  /// Cormode and Muthukrishnan: with probability e^-4 at most, an estimate is too high by more than
  /// e × uses ÷ counters.
  @Test
  void keysThatWereNeverUsed_areSeldomEstimatedHigh() {
    int keys = 8_192;
    FrequencySketch sketch = new FrequencySketch(keys);
    for (int i = 0; i < keys; i++) {
      sketch.use(key(i));
    }
    int bad = 0;
    int asked = 20_000;
    for (int i = 0; i < asked; i++) {
      bad += sketch.estimate(key(1_000_000 + i)) > Math.E ? 1 : 0;
    }
    assertThat((double) bad / asked).isLessThan(Math.exp(-4));
  }

  @Test
  void twoSketches_withEqualUses_agree() {
    FrequencySketch one = new FrequencySketch(300);
    FrequencySketch two = new FrequencySketch(300);
    Random random = new Random(5);
    for (int i = 0; i < 20_000; i++) {
      BlockKey key = key(random.nextInt(500));
      assertThat(one.use(key)).isEqualTo(two.use(key));
      two.estimate(key(random.nextInt(500))); // a look may halve a counter earlier, with no other effect
    }
    for (int i = 0; i < 500; i++) {
      assertThat(one.estimate(key(i))).isEqualTo(two.estimate(key(i)));
    }
  }
}
