package io.penstock.storage.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.storage.index.DeadRecord;
import io.penstock.storage.index.SegmentIndex;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SegmentIndexTest {
  private final SegmentIndex index = new SegmentIndex();

  private void write(int segment, int records) {
    for (int i = 0; i < records; i++) {
      index.written(segment);
    }
  }

  private void free(int segment, int records) {
    for (int i = 0; i < records; i++) {
      index.freed(segment);
    }
  }

  private int victim(int active, double most) {
    return index.victim(active, most, segment -> true);
  }

  @Test
  void noSegments_haveNoVictim() {
    assertThat(victim(1, 1)).isZero();
    assertThat(index.unneeded(1)).isEmpty();
    assertThat(index.segments()).isZero();
    assertThat(index.needed()).isZero();
    assertThat(index.live()).isZero();
    assertThat(index.exists(1)).isFalse();
  }

  @Test
  void foundSegment_isEmptyUntilARecordIsWritten_andAgainWhenTheLastOneIsFreed() {
    index.found(3);
    assertThat(index.unneeded(1)).containsExactly(3);
    write(3, 2);
    assertThat(index.unneeded(1)).isEmpty();
    assertThat(index.needed()).isEqualTo(1);
    index.freed(3);
    assertThat(index.unneeded(1)).isEmpty();
    index.freed(3);
    assertThat(index.unneeded(1)).containsExactly(3);
    assertThat(index.needed()).isZero();
    assertThat(index.unneeded(3)).as("not the active one").isEmpty();
  }

  // Cost and benefit

  @Test
  void victim_isTheEmptiestOfEqualAge() {
    write(1, 10);
    write(2, 10);
    write(3, 10);
    for (int later = 4; later < 20; later++) {
      write(later, 10); // so that the three are about as old
    }
    free(1, 3);
    free(3, 8);
    free(2, 7);
    assertThat(victim(99, 1)).isEqualTo(3);
  }

  /// The paper's point: cold segments are worth compacting at a higher share than hot ones.
  @Test
  void victim_isTheOlder_evenIfItIsSomewhatFuller() {
    write(1, 100);
    write(2, 100);
    free(1, 40); // 60 % live, written long ago
    free(2, 50); // 50 % live, written just now
    assertThat(victim(9, 1)).isEqualTo(1);
  }

  @Test
  void victim_isNeverActive_norFull_norUnreadable_norEmpty() {
    write(1, 10);
    write(2, 10);
    write(3, 10);
    write(4, 10);
    free(1, 9);
    free(2, 5);
    free(3, 10);
    assertThat(victim(1, 0.5)).isEqualTo(2);
    assertThat(victim(1, 0.4)).isZero();
    assertThat(index.victim(9, 0.5, segment -> segment != 1)).isEqualTo(2);
    assertThat(index.victim(9, 1, segment -> false)).isZero();
    assertThat(victim(9, 0.1)).isEqualTo(1);
    assertThat(victim(1, 1)).as("a full segment, where it may be chosen").isEqualTo(2);
  }

  @Test
  void share_isThatOfTheFullestSegmentEverSeen() {
    write(1, 100);
    index.deleted(1, 0);
    write(2, 10);
    assertThat(victim(9, 0.1)).as("10 of 100").isEqualTo(2);
    assertThat(victim(9, 0.09)).isZero();
  }

  // Copies and removals

  @Test
  void originalOfACopy_isKnownUntilItsSegmentIsDeleted() {
    write(1, 2);
    DeadRecord from = dead(1);
    index.moved(from, 20);
    assertThat(index.original(20)).isEqualTo(from);
    assertThat(index.original(7)).isNull();
    assertThat(index.live()).isEqualTo(1);
    index.deleted(1, 0);
    assertThat(index.original(20)).isNull();
  }

  @Test
  void removal_isNeededWhileTheSegmentOfItsRecordMayExist() {
    write(1, 1);
    write(2, 1);
    index.removed(dead(1), 2);
    index.removed(dead(2), 2);
    assertThat(index.neededRemovals(2)).as("not those of records beside them").containsExactly(dead(1));
    index.deleted(1, 40);
    assertThat(index.neededRemovals(2)).as("the delete is not forced").containsExactly(dead(1));
    index.forced(moment -> moment < 40);
    assertThat(index.neededRemovals(2)).hasSize(1);
    index.forced(moment -> moment <= 40);
    assertThat(index.neededRemovals(2)).isEmpty();
  }

  @Test
  void segmentOfRemovalsAlone_exists_andHasNoLiveRecord() {
    write(1, 1);
    index.removed(dead(1), 8);
    assertThat(index.exists(8)).isTrue();
    assertThat(index.unneeded(1)).containsExactly(8);
    index.removalsCopied(8);
    assertThat(index.neededRemovals(8)).isEmpty();
  }

  @Test
  void copies_reachFromTheFirstToTheLast() {
    write(1, 1);
    assertThat(index.copiedAt(1)).isZero();
    index.copied(1, 100, 200);
    index.copied(1, 300, 400);
    assertThat(index.copiedFrom(1)).isEqualTo(100);
    assertThat(index.copiedAt(1)).isEqualTo(400);
  }

  private static DeadRecord dead(int segment) {
    return new DeadRecord(null, segment);
  }

  // Any operations

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void operationsAtRandom_areCountedAsInAMap(int seed) {
    Random random = new Random(seed);
    TreeMap<Integer, int[]> model = new TreeMap<>(); // live, total, number of the newest record
    int written = 0;
    int fullest = 1;
    for (int step = 0; step < 5_000; step++) {
      int segment = 1 + random.nextInt(12);
      int[] usage = model.get(segment);
      switch (random.nextInt(8)) {
        case 0, 1, 2, 3 -> {
          index.written(segment);
          usage = model.computeIfAbsent(segment, number -> new int[3]);
          usage[0]++;
          fullest = Math.max(fullest, ++usage[1]);
          usage[2] = ++written;
        }
        case 4 -> {
          if (usage != null && usage[0] == 0) {
            index.deleted(segment, step);
            model.remove(segment);
          }
        }
        default -> {
          if (usage != null && usage[0] > 0) {
            index.freed(segment);
            usage[0]--;
          }
        }
      }
      double most = random.nextDouble();
      int active = 1 + random.nextInt(12);
      List<Integer> empty = new ArrayList<>();
      int best = 0;
      double bestWorth = -1;
      for (var each : model.entrySet()) {
        int[] of = each.getValue();
        double share = (double) of[0] / fullest;
        double worth = (1 - share) * (written - of[2] + 1) / (1 + share);
        if (of[0] == 0 && each.getKey() != active) {
          empty.add(each.getKey());
        }
        if (of[0] > 0 && each.getKey() != active && of[0] <= most * fullest && worth > bestWorth) {
          bestWorth = worth;
          best = each.getKey();
        }
      }
      assertThat(victim(active, most)).as("seed %d, step %d", seed, step).isEqualTo(best);
      assertThat(index.unneeded(active)).as("seed %d, step %d", seed, step).isEqualTo(empty);
      assertThat(index.live()).isEqualTo(model.values().stream().mapToInt(of -> of[0]).sum());
      assertThat(index.segments()).isEqualTo(model.size());
      assertThat(index.needed()).isEqualTo((int) model.values().stream().filter(of -> of[0] > 0).count());
    }
  }
}
