package io.penstock.storage.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.storage.engine.Location;
import io.penstock.storage.record.RecordName;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
final class FoundBlocksTest {
  private static final SpaceId SPACE = new SpaceId(3, 4);

  private record Record(BlockKey key, long sequence) {}

  /// In whatever order records are found, and however often: the newest of a block counts.
  @Test
  void blocksAtRandom_inAnyOrder_thatCountAreTheNewest() {
    for (int seed = 0; seed < 100; seed++) {
      Random random = new Random(seed);
      LocationTable locations = new LocationTable(8);
      FoundBlocks found = new FoundBlocks(SPACE, locations);
      List<Record> records = new ArrayList<>();
      for (long sequence = 1; sequence <= 500; sequence++) {
        records.add(new Record(new BlockKey(SPACE, new BlockHash(random.nextInt(2), random.nextInt(200))), sequence));
      }
      List<Record> copies = records.subList(0, 20).stream().toList();
      records.addAll(copies);
      Collections.shuffle(records, random);
      Map<BlockKey, Long> newest = new HashMap<>();
      Set<Record> seen = new HashSet<>();
      for (int i = 0; i < records.size(); i++) {
        Record each = records.get(i);
        boolean isCopyOfTheNewest = newest.getOrDefault(each.key(), 0L) == each.sequence();
        assertThat(found.add(each.key(), new RecordLocation(new Location(1 + i / 100, 8L * i, 8), each.sequence(), i)))
            .as("seed %d, %s", seed, each).isEqualTo(!isCopyOfTheNewest);
        newest.merge(each.key(), each.sequence(), Math::max);
        seen.add(each);
      }
      assertThat(found.replaced()).as("seed %d", seed).hasSize(seen.size() - newest.size())
          .allMatch(dead -> newest.get(dead.named().key()) > dead.named().sequence());
      assertThat(found.size()).as("seed %d", seed).isEqualTo(newest.size()).isEqualTo(locations.size());
      Map<BlockKey, Long> taken = new HashMap<>();
      found.takeAll((key, number) -> taken.put(key, locations.location(number).sequence()));
      assertThat(taken).as("seed %d", seed).isEqualTo(newest);
      found.takeAll((key, number) -> taken.clear());
      assertThat(taken).as("seed %d: once", seed).isEqualTo(newest);
    }
  }

  @Test
  void removed_isGone_untilItIsWrittenAgain() {
    LocationTable locations = new LocationTable(8);
    FoundBlocks found = new FoundBlocks(SPACE, locations);
    BlockKey key = new BlockKey(SPACE, new BlockHash(1, 2));
    found.add(key, new RecordLocation(new Location(1, 0, 8), 5, 0));
    assertThat(found.remove(new RecordName(key, 4))).isNull();
    assertThat(found.remove(new RecordName(key, 5))).isEqualTo(new DeadRecord(new RecordName(key, 5), 1));
    assertThat(found.contains(key)).isFalse();
    assertThat(found.remove(new RecordName(key, 5))).isNull();
    found.add(key, new RecordLocation(new Location(2, 0, 8), 7, 0));
    assertThat(found.contains(key)).isTrue();
    assertThat(locations.size()).isEqualTo(1);
  }

  /// A block that was moved: one removal names its copy and its original.
  @Test
  void removal_alsoNamesWhatANewerRecordReplaced() {
    FoundBlocks found = new FoundBlocks(SPACE, new LocationTable(8));
    BlockKey key = new BlockKey(SPACE, new BlockHash(1, 2));
    found.add(key, new RecordLocation(new Location(1, 0, 8), 5, 0));
    found.add(key, new RecordLocation(new Location(2, 0, 8), 9, 0));
    assertThat(found.replaced()).containsExactly(new DeadRecord(new RecordName(key, 5), 1));
    assertThat(found.remove(new RecordName(key, 9))).isEqualTo(new DeadRecord(new RecordName(key, 9), 2));
    assertThat(found.remove(new RecordName(key, 5))).isEqualTo(new DeadRecord(new RecordName(key, 5), 1));
    assertThat(found.replaced()).isEmpty();
    assertThat(found.size()).isZero();
  }
}
