package io.penstock.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
final class PrefixIndexTest {
  private static final SpaceId SPACE = new SpaceId(1, 2);
  private static final int ALL = (1 << PrefixIndex.MOST_PLACES) - 1;

  /// Some keys are alike in one half of their hash.
  static BlockKey key(int number) {
    return new BlockKey(SPACE, number % 3 == 0 ? new BlockHash(number, -1) : new BlockHash(-1L << 40, number));
  }

  /// With 7 bits of the hash, many keys share a first slot; with 0, all do, so no segment can be split.
  @ParameterizedTest
  @CsvSource({"-1, 8, 4000", "-1, 4096, 20000", "127, 8, 2000", "0, 8, 200"})
  void operationsAtRandom_areAnsweredAsAMapDoes(int hashBits, int segmentKeys, int keys) {
    for (int seed = 0; seed < 3; seed++) {
      Random random = new Random(seed);
      PrefixIndex index = new PrefixIndex(SPACE, hashBits, segmentKeys);
      Map<BlockKey, Integer> model = new HashMap<>();
      for (int i = 0; i < 5 * keys; i++) {
        BlockKey key = key(random.nextInt(keys));
        int places = random.nextInt(3) == 0 ? 0 : 1 + random.nextInt(ALL);
        index.set(key, places);
        model.put(key, places);
        if (index.places(key) != places) {
          throw new AssertionError("seed %d, step %d: %s must be in %d (was %d)".formatted(seed, i, key, places,
              index.places(key)));
        }
      }
      List<BlockKey> all = new ArrayList<>();
      BitSet present = new BitSet();
      for (int number = 0; number < keys; number++) {
        all.add(key(number));
        present.set(number, (model.getOrDefault(key(number), 0) & 5) != 0);
      }
      assertThat(index.present(all, 5)).as("seed %d", seed).isEqualTo(present);
      assertThat(index.prefix(all, 5)).as("seed %d", seed).isEqualTo(present.nextClearBit(0));
      assertThat(index.size()).as("seed %d", seed)
          .isEqualTo((int) model.values().stream().filter(places -> places != 0).count());
    }
  }

  @Test
  void prefix_endsAtTheFirstKeyThatIsMissing_wherever() {
    PrefixIndex index = new PrefixIndex(SPACE);
    List<BlockKey> keys = new ArrayList<>();
    for (int number = 0; number < 247; number++) {
      keys.add(key(number));
      index.set(key(number), number < 100 ? 1 : 2);
    }
    assertThat(index.prefix(keys, ALL)).isEqualTo(247);
    assertThat(index.prefix(keys, 1)).isEqualTo(100);
    assertThat(index.prefix(keys, 2)).isZero();
    for (int gap : new int[] {0, 1, 63, 64, 65, 128, 246}) {
      index.set(keys.get(gap), 0);
      assertThat(index.prefix(keys, ALL)).isEqualTo(gap);
      index.set(keys.get(gap), 1);
    }
    assertThat(index.prefix(List.of(), ALL)).isZero();
    index.clear();
    assertThat(index.prefix(keys, ALL)).isZero();
    assertThat(index.size()).isZero();
  }

  /// A full cache replaces keys for ever: slots of keys that left must not pile up.
  @Test
  void memory_staysInBounds_howeverManyKeysPassThrough() {
    PrefixIndex index = new PrefixIndex(SPACE);
    int live = 50_000;
    for (int number = 0; number < 10 * live; number++) {
      index.set(key(number), 1);
      if (number >= live) {
        index.set(key(number - live), 0);
      }
    }
    assertThat(index.size()).isEqualTo(live);
    assertThat((double) index.bytes() / live).isBetween(17.0, 26.5);
  }

  @Test
  void wrongArguments_areRefused() {
    PrefixIndex index = new PrefixIndex(SPACE);
    assertThatThrownBy(() -> index.set(key(1), 1 << PrefixIndex.MOST_PLACES))
        .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("(was 128)");
    BlockKey other = new BlockKey(new SpaceId(3, 4), new BlockHash(5, 6));
    assertThatThrownBy(() -> index.places(other)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> index.set(other, 1)).isInstanceOf(IllegalArgumentException.class);
  }
}
