package io.penstock.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockKey;
import io.penstock.pool.evict.FrequencySketch;
import io.penstock.stack.shape.StackOptions.OffloadRule;
import io.penstock.testkit.Blocks;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class FrequencySketchTest {
  private static final int KEYS = 1_000;
  private static final long SEED = 7;

  private final List<BlockKey> keys = Blocks.keys(Blocks.smallSpace(), 0, KEYS);
  private final FrequencySketch sketch = new FrequencySketch(KEYS);

  @Test
  void uses_areNeverUnderestimatedWithinTheWindow_andSeldomOver() {
    int[] truth = new int[KEYS];
    Random random = new Random(SEED);
    for (int i = 0; i < 4 * KEYS; i++) {
      int key = Math.min(random.nextInt(KEYS), random.nextInt(KEYS));
      truth[key]++;
      sketch.use(keys.get(key));
    }
    int over = 0;
    for (int key = 0; key < KEYS; key++) {
      int estimate = sketch.estimate(keys.get(key));
      assertThat(estimate).as("key %d, seed %d", key, SEED)
          .isGreaterThanOrEqualTo(Math.min(FrequencySketch.MOST, truth[key]));
      over += estimate > Math.min(FrequencySketch.MOST, truth[key]) + 1 ? 1 : 0;
    }
    assertThat(over).as("keys that are estimated too high by 2 or more, seed %d", SEED).isLessThan(KEYS / 5);
  }

  @Test
  void firstUses_countOneByOne_upToTheMost() {
    for (int use = 1; use <= 20; use++) {
      assertThat(sketch.use(keys.getFirst())).isEqualTo(Math.min(use, FrequencySketch.MOST));
    }
  }

  @Test
  void keyThatIsUsedNoMore_isForgottenByHalves() {
    for (int use = 0; use < 12; use++) {
      sketch.use(keys.getFirst());
    }
    for (int i = 0; i < 20 * KEYS; i++) {
      sketch.use(keys.get(1 + i % (KEYS - 1)));
    }
    FrequencySketch others = new FrequencySketch(KEYS);
    for (int i = 0; i < 20 * KEYS; i++) {
      others.use(keys.get(1 + i % (KEYS - 1)));
    }
    assertThat(sketch.estimate(keys.getFirst())).isLessThanOrEqualTo(Math.max(4, others.estimate(keys.getFirst())));
  }

  @Test
  void fullWindow_halvesEveryEstimateOnce_howeverManyUsesFollow() {
    for (int i = 0; i < 10 * KEYS - 1; i++) {
      sketch.use(keys.get(i % (KEYS - 1)));
    }
    int[] before = keys.stream().mapToInt(sketch::estimate).toArray();
    for (int i = 0; i < KEYS; i++) { // the first of them fills the window
      sketch.use(keys.getLast());
    }
    for (int key = 0; key < KEYS - 1; key++) {
      assertThat(sketch.estimate(keys.get(key))).as("key %d", key).isGreaterThanOrEqualTo(before[key] / 2);
    }
    assertThat(keys.stream().limit(KEYS - 1).mapToInt(sketch::estimate).sum())
        .isLessThan(Arrays.stream(before).sum() * 6 / 10);
  }

  @Test
  void rule_takesWhatWasUsedSoOften() {
    BlockKey key = keys.getFirst();
    assertThat(OffloadRule.usedAtLeast(2).takes(key, 1)).isFalse();
    assertThat(OffloadRule.usedAtLeast(2).takes(key, 2)).isTrue();
    assertThat(OffloadRule.usedAtLeast(0).takes(key, 0)).isTrue();
    assertThatThrownBy(() -> OffloadRule.usedAtLeast(16)).isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("(was 16)");
    assertThatThrownBy(() -> new FrequencySketch(0)).isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("(was 0)");
  }
}
