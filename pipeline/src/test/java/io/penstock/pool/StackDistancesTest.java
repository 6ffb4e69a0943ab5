package io.penstock.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The stack algorithm against a list, and the buckets of the distances.
@Timeout(30)
final class StackDistancesTest {
  private final StackDistances distances = new StackDistances(EvictionOrderTest.key(0).space());

  private static BlockKey key(long id) {
    return EvictionOrderTest.key(id);
  }

  @Test
  void noKeys_haveNoDistance() {
    assertThat(distances.use(key(1))).isZero();
    assertThat(distances.contains(key(1))).isFalse();
    distances.remove(key(1));
    distances.retain(key -> true);
    assertThat(distances.size()).isZero();
    assertThatThrownBy(distances::removeOldest).isInstanceOf(IllegalStateException.class)
        .hasMessage("keys must be at least one (was none)");
  }

  @Test
  void keyThatIsPresent_cannotEnterAgain() {
    distances.enter(key(1));
    assertThatThrownBy(() -> distances.enter(key(1))).isInstanceOf(IllegalStateException.class)
        .hasMessage("key must be absent to be entered (was present, " + key(1) + ")");
    assertThat(distances.size()).isEqualTo(1);
  }

  @Test
  void distance_countsDistinctKeys_theKeyIncluded() {
    for (int id = 0; id < 4; id++) {
      distances.enter(key(id));
    }
    assertThat(distances.use(key(3))).isEqualTo(1);
    assertThat(distances.use(key(3))).isEqualTo(1);
    assertThat(distances.use(key(0))).isEqualTo(4);
    assertThat(distances.use(key(3))).isEqualTo(2);
    assertThat(distances.use(key(1))).isEqualTo(4);
    distances.remove(key(3));
    assertThat(distances.use(key(0))).isEqualTo(2);
  }

  /// Slots are used up by references, not by keys: they are packed over and over.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 63, 64, 65, 128, 1000})
  void manyReferencesToFewKeys_keepTheDistance(int keys) {
    for (int id = 0; id < keys; id++) {
      distances.enter(key(id));
    }
    for (int i = 0; i < 5_000; i++) {
      assertThat(distances.use(key(i % keys))).isEqualTo(keys);
    }
  }

  @ParameterizedTest
  @CsvSource({"1, 5", "2, 50", "3, 400"})
  void operationsAtRandom_areThoseOfAList(int seed, int keys) {
    Random random = new Random(seed);
    List<Integer> model = new ArrayList<>(); // the most recently used first
    for (int step = 0; step < 10_000; step++) {
      Integer id = (int) (keys * random.nextDouble() * random.nextDouble());
      switch (random.nextInt(40)) {
        case 0, 1 -> {
          distances.remove(key(id));
          model.remove(id);
        }
        case 2 -> {
          if (!model.isEmpty()) {
            distances.removeOldest();
            model.removeLast();
          }
        }
        case 3 -> {
          int rest = random.nextInt(7);
          distances.retain(key -> key.hash().low() % 7 != rest);
          model.removeIf(each -> each % 7 == rest);
        }
        default -> {
          int distance = distances.use(key(id));
          if (distance != model.indexOf(id) + 1) {
            throw new AssertionError("seed %d, step %d: distance must be %d (was %d)".formatted(seed, step,
                model.indexOf(id) + 1, distance));
          }
          if (distance == 0) {
            distances.enter(key(id));
          }
          model.remove(id);
          model.addFirst(id);
        }
      }
      assertThat(distances.size()).isEqualTo(model.size());
    }
  }

  // Buckets

  @Test
  void distancesBelow32_haveABucketEach() {
    for (int distance = 0; distance < 32; distance++) {
      assertThat(MissRatioHistogram.bucket(distance)).isEqualTo(distance);
      assertThat(MissRatioHistogram.upper(distance)).isEqualTo(distance);
    }
    assertThat(MissRatioHistogram.bucket(32)).isEqualTo(MissRatioHistogram.bucket(33));
  }

  @Test
  void buckets_followEachOtherWithoutGaps_upToTheGreatestDepth() {
    int last = MissRatioHistogram.bucket(MissRatioOptions.MOST_DEPTH);
    for (int bucket = 1; bucket <= last; bucket++) {
      long lower = MissRatioHistogram.upper(bucket - 1) + 1;
      long upper = MissRatioHistogram.upper(bucket);
      assertThat(MissRatioHistogram.bucket(lower)).isEqualTo(bucket);
      assertThat(MissRatioHistogram.bucket(upper)).isEqualTo(bucket);
      assertThat((double) (upper - lower) / lower).as("width of bucket %d", bucket).isLessThan(1.0 / 16);
    }
  }

  @Test
  void histogram_countsDistancesBeyondTheDepthAsUnknown() {
    MissRatioHistogram histogram = new MissRatioHistogram(100);
    histogram.add(3, 100, 2);
    histogram.add(3, 101, 5);
    histogram.addCold(3, 7);
    histogram.scale(0.5);
    assertThat(histogram.cold()[3]).isEqualTo(6);
    double[] misses = histogram.cold();
    histogram.addTo(misses, MissRatioHistogram.bucket(100));
    assertThat(misses[3]).isEqualTo(7);
    assertThat(histogram.last()).isEqualTo(MissRatioHistogram.bucket(100));
    assertThat(new MissRatioHistogram(100).last()).isZero();
  }
}
