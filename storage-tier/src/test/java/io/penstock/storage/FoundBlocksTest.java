package io.penstock.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.storage.engine.Location;
import io.penstock.storage.record.RecordName;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
final class FoundBlocksTest {
  private static final SpaceId SPACE = new SpaceId(3, 4);

  /// What a map by sequence and one by key would say.
  @Test
  void blocksAtRandom_thatCountAreThoseWrittenLastAndNotRemoved() {
    for (int seed = 0; seed < 200; seed++) {
      Random random = new Random(seed);
      PlaceTable places = new PlaceTable(8);
      FoundBlocks found = new FoundBlocks(SPACE, places);
      TreeMap<Long, BlockKey> model = new TreeMap<>();
      long sequence = 0;
      for (int i = 0; i < 500; i++) {
        sequence += 1 + random.nextInt(3);
        BlockKey key = new BlockKey(SPACE, new BlockHash(random.nextInt(2), random.nextInt(200)));
        if (random.nextInt(4) > 0) {
          found.add(key, new Place(new Location(1 + i / 100, 8L * i, 8), sequence, i));
          model.put(sequence, key);
        } else {
          long removed = random.nextLong(sequence + 1) + 1;
          BlockKey named = random.nextInt(4) == 0 ? key : model.getOrDefault(removed, key);
          boolean there = model.remove(removed, named);
          assertThat(found.remove(new RecordName(named, removed)) != null).as("seed %d", seed).isEqualTo(there);
        }
      }
      List<Long> older = new ArrayList<>();
      found.keepNewest(dead -> older.add(dead.name().sequence()));
      Map<BlockKey, Long> newest = new LinkedHashMap<>();
      model.forEach((number, key) -> newest.put(key, number));
      assertThat(older).as("seed %d", seed).hasSize(model.size() - newest.size())
          .doesNotContainAnyElementsOf(newest.values());
      assertThat(found.size()).as("seed %d", seed).isEqualTo(newest.size()).isEqualTo(places.size());
      Map<BlockKey, Long> taken = new LinkedHashMap<>();
      found.takeAll((key, number) -> taken.put(key, places.place(number).sequence()));
      assertThat(taken).as("seed %d", seed).isEqualTo(newest);
      assertThat(List.copyOf(taken.values())).as("seed %d: in the order of writing", seed).isSorted();
      found.takeAll((key, number) -> taken.clear());
      assertThat(taken).as("seed %d: once", seed).isEqualTo(newest);
    }
  }
}
