package io.penstock.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The edges of [PrefixIndex] and of its segments: steps of 64 keys, splits, copies and keys that are gone.
@Timeout(30)
final class PrefixIndexEdgesTest {
  private static final SpaceId SPACE = new SpaceId(1, 2);
  private static final int ALL = (1 << PrefixIndex.MOST_PLACES) - 1;

  private static BlockKey key(int number) {
    return PrefixIndexTest.key(number);
  }

  private static List<BlockKey> keys(int count) {
    return IntStream.range(0, count).mapToObj(PrefixIndexEdgesTest::key).toList();
  }

  private static PrefixIndex indexOf(int count, int places) {
    PrefixIndex index = new PrefixIndex(SPACE);
    keys(count).forEach(key -> index.set(key, places));
    return index;
  }

  @Test
  void emptyIndex_answersNothing() {
    PrefixIndex index = new PrefixIndex(SPACE);
    assertThat(index.size()).isZero();
    assertThat(index.places(key(1))).isZero();
    assertThat(index.prefix(keys(200), ALL)).isZero();
    assertThat(index.present(keys(200), ALL)).isEqualTo(new BitSet());
    assertThat(index.present(List.of(), ALL)).isEqualTo(new BitSet());
    assertThat(index.prefixPlaces(List.of(), ALL)).isEmpty();
    index.set(key(1), 0);
    index.clear();
    assertThat(index.size()).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 128, 129, 255, 256, Integer.MIN_VALUE, Integer.MAX_VALUE})
  void placesOfMoreThanSevenBits_areRefused(int places) {
    PrefixIndex index = new PrefixIndex(SPACE);
    assertThatThrownBy(() -> index.set(key(1), places)).isInstanceOf(IllegalArgumentException.class)
        .hasMessage("places must be of 7 bits (was " + places + ")");
    assertThat(index.size()).isZero();
  }

  @Test
  void keyOfAnotherSpace_isRefusedByEveryCall() {
    PrefixIndex index = indexOf(3, 1);
    BlockKey other = new BlockKey(new SpaceId(3, 4), key(1).hash());
    String message = "key must be of space " + SPACE + " (was " + other + ")";
    assertThatThrownBy(() -> index.places(other)).hasMessage(message);
    assertThatThrownBy(() -> index.set(other, 1)).hasMessage(message);
    assertThatThrownBy(() -> index.prefix(List.of(key(0), other), ALL)).hasMessage(message);
    assertThatThrownBy(() -> index.present(List.of(key(0), other), ALL)).hasMessage(message);
  }

  @Test
  void everyCombinationOfPlaces_isKept_andFiltered() {
    PrefixIndex index = new PrefixIndex(SPACE);
    for (int places = 1; places <= ALL; places++) {
      index.set(key(places), places);
    }
    assertThat(index.size()).isEqualTo(ALL);
    for (int places = 1; places <= ALL; places++) {
      assertThat(index.places(key(places))).isEqualTo(places);
      for (int place = 0; place < PrefixIndex.MOST_PLACES; place++) {
        byte[] found = index.prefixPlaces(List.of(key(places)), 1 << place);
        assertThat(found).isEqualTo((places >>> place & 1) == 1 ? new byte[] {(byte) (1 << place)} : new byte[0]);
      }
    }
  }

  @Test
  void noWantedPlace_findsNothing() {
    PrefixIndex index = indexOf(3, ALL);
    assertThat(index.prefix(keys(3), 0)).isZero();
    assertThat(index.present(keys(3), 0)).isEqualTo(new BitSet());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 63, 64, 65, 127, 128, 129, 500})
  void requestsAroundAStep_areAnsweredWhole(int count) {
    PrefixIndex index = indexOf(count, 5);
    List<BlockKey> more = keys(count + 70);
    assertThat(index.prefix(more, ALL)).isEqualTo(count);
    assertThat(index.prefix(more.subList(0, count), ALL)).isEqualTo(count);
    assertThat(index.prefixPlaces(more, 4)).hasSize(count).containsOnly(4);
    assertThat(index.present(more, 1).cardinality()).isEqualTo(count);
    assertThat(index.present(more, 2)).isEqualTo(new BitSet());
  }

  @Test
  void keyThatComesTwiceInARequest_isAnsweredTwice() {
    PrefixIndex index = indexOf(1, 3);
    assertThat(index.prefixPlaces(Collections.nCopies(100, key(0)), ALL)).hasSize(100).containsOnly(3);
  }

  @Test
  void set_again_changesThePlacesAndNotTheCount() {
    PrefixIndex index = new PrefixIndex(SPACE);
    for (int places : new int[] {1, 127, 1, 0, 0, 64, 2}) {
      index.set(key(1), places);
      assertThat(index.places(key(1))).isEqualTo(places);
      assertThat(index.size()).isEqualTo(places == 0 ? 0 : 1);
    }
  }

  /// Hashes of all zeros and of all ones look like an empty slot, and like one that is gone.
  @Test
  void hashesOfAnyBits_areKeys() {
    List<BlockHash> odd = List.of(new BlockHash(0, 0), new BlockHash(-1, -1), new BlockHash(0, -1),
        new BlockHash(-1, 0), new BlockHash(Long.MIN_VALUE, 0), new BlockHash(0, Long.MIN_VALUE));
    PrefixIndex index = new PrefixIndex(SPACE, 0, 8);
    for (BlockHash hash : odd) {
      BlockKey key = new BlockKey(SPACE, hash);
      assertThat(index.places(key)).isZero();
      index.set(key, 1);
      assertThat(index.places(key)).isEqualTo(1);
    }
    assertThat(index.size()).isEqualTo(odd.size());
  }

  @Test
  void fullIndex_thatIsEmptied_forgetsAll_andCanBeFilledAgain() {
    PrefixIndex index = new PrefixIndex(SPACE, -1, 16);
    List<BlockKey> keys = keys(3_000);
    for (int round = 0; round < 3; round++) {
      keys.forEach(key -> index.set(key, 1));
      assertThat(index.prefix(keys, ALL)).isEqualTo(keys.size());
      long bytes = index.bytes();
      keys.forEach(key -> index.set(key, 0));
      assertThat(index.size()).isZero();
      assertThat(index.present(keys, ALL)).isEqualTo(new BitSet());
      assertThat(index.bytes()).as("emptying takes and gives no memory").isEqualTo(bytes);
    }
    long peak = index.bytes();
    index.clear();
    assertThat(index.bytes()).isLessThan(peak / 100);
  }

  @Test
  void clear_isNotSeenByAnAnswerThatWasGiven() {
    PrefixIndex index = indexOf(100, 1);
    byte[] answer = index.prefixPlaces(keys(100), ALL);
    index.clear();
    assertThat(answer).hasSize(100).containsOnly(1);
    assertThat(index.places(key(1))).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 5, 7, 64, 4096})
  void bytes_areThoseOfTheSegments_forSegmentsOfAnySize(int segmentKeys) {
    PrefixIndex index = new PrefixIndex(SPACE, -1, segmentKeys);
    List<BlockKey> keys = keys(6_000);
    keys.forEach(key -> index.set(key, 1));
    assertThat(index.size()).isEqualTo(6_000);
    assertThat(index.bytes()).isGreaterThan(6_000L * (1 + BlockHash.BYTES));
    assertThat(index.prefix(keys, ALL)).isEqualTo(6_000);
  }

  // A segment

  /// With the mask 0 every search begins at the first slot. Only a search that begins at one of the last slots passes
  /// the end of the table, so there are other masks too.
  @ParameterizedTest
  @ValueSource(ints = {0, 1 << 31, -1})
  void segment_againstAMap_upToTheFullTable(int hashBits) {
    for (int seed = 0; seed < 20; seed++) {
      Random random = new Random(seed);
      PrefixSegment segment = new PrefixSegment(0, 20, hashBits);
      Map<BlockHash, Integer> model = new HashMap<>();
      List<BlockHash> known = new ArrayList<>();
      for (int step = 0; step < 500; step++) {
        boolean isNew = known.isEmpty() || random.nextInt(4) == 0;
        BlockHash hash = isNew
            ? new BlockHash(random.nextLong(), random.nextLong())
            : known.get(random.nextInt(known.size()));
        int bits = hash.hashCode() & hashBits;
        int places = random.nextInt(ALL + 1);
        boolean hasSlot = segment.update(bits, hash, places);
        assertThat(hasSlot).as("seed %d, step %d", seed, step).isEqualTo(!isNew);
        if (isNew && places != 0 && !segment.isFull()) {
          segment.add(bits, hash, places);
          known.add(hash);
        }
        if (known.contains(hash)) {
          model.put(hash, places);
        }
        int start = segment.start(bits);
        assertThat(segment.places(start, segment.likely(start, hash), hash)).as("seed %d, step %d", seed, step)
            .isEqualTo(model.getOrDefault(hash, 0));
      }
      int live = (int) model.values().stream().filter(each -> each != 0).count();
      assertThat(segment.keys()).as("seed %d", seed).isEqualTo(live);
      PrefixSegment copy = segment.copy(1, live, hash -> true);
      assertThat(copy.isFull()).isFalse();
      model.forEach((hash, places) -> {
        int start = copy.start(hash.hashCode() & hashBits);
        assertThat(copy.places(start, start, hash)).isEqualTo(places);
      });
    }
  }
}
