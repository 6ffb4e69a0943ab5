package io.penstock.pool.share;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.pool.share.RegionAllocator.Region;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class RegionAllocatorTest {
  private static final int PAGE = RegionAllocator.ALIGNMENT_BYTES;

  @Test
  void theShortestRegionThatIsLongEnough_givesItsFirstBytes() {
    RegionAllocator regions = new RegionAllocator(16 * PAGE, 16 * PAGE);
    Region first = regions.allocate(4 * PAGE);
    Region between = regions.allocate(1);
    assertThat(between).isEqualTo(new Region(4 * PAGE, PAGE));
    regions.free(first);
    assertThat(regions.allocate(3 * PAGE)).isEqualTo(new Region(0, 3 * PAGE));
    assertThat(regions.largestFree()).isEqualTo(11 * PAGE);
    assertThat(regions.allocate(12 * PAGE)).isNull();
    assertThat(regions.freeBytes()).isEqualTo(12 * PAGE);
    assertThat(regions.freeRegions()).isEqualTo(2);
  }

  @Test
  void noRegionLeavesItsChunk() {
    RegionAllocator regions = new RegionAllocator(5 * PAGE, 2 * PAGE);
    assertThat(regions.allocate(3 * PAGE)).isNull();
    List<Region> all = List.of(regions.allocate(2 * PAGE), regions.allocate(2 * PAGE), regions.allocate(PAGE));
    assertThat(regions.largestFree()).isZero();
    all.forEach(regions::free);
    assertThat(regions.freeRegions()).isEqualTo(3);
  }

  @Test
  void aRegionThatIsNotLent_isRefused() {
    RegionAllocator regions = new RegionAllocator(4 * PAGE, 4 * PAGE);
    Region region = regions.allocate(PAGE);
    regions.free(region);
    assertThatThrownBy(() -> regions.free(region)).isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("region must be lent");
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void underChurn_regionsNeverOverlap_andMergeWhenFree(long seed) {
    Random random = new Random(seed);
    int chunk = 64 * PAGE;
    RegionAllocator regions = new RegionAllocator(300L * PAGE, chunk);
    List<Region> lent = new ArrayList<>();
    for (int step = 0; step < 4000; step++) {
      if (random.nextInt(3) > 0) {
        long bytes = 1L + random.nextInt(12 * PAGE);
        long largest = regions.largestFree();
        Region region = regions.allocate(bytes);
        assertThat(region == null).as("step %s of seed %s", step, seed).isEqualTo(largest < bytes);
        if (region != null) {
          assertThat(region.bytes()).isBetween(bytes, bytes + PAGE - 1);
          assertThat(region.offset() / chunk).isEqualTo((region.end() - 1) / chunk);
          lent.add(region);
        }
      } else if (!lent.isEmpty()) {
        regions.free(lent.remove(random.nextInt(lent.size())));
      }
      assertThat(regions.freeBytes() + lent.stream().mapToLong(Region::bytes).sum()).isEqualTo(300L * PAGE);
    }
    requireDistinct(lent, seed);
    lent.forEach(regions::free);
    assertThat(regions.freeRegions()).as("seed %s", seed).isEqualTo(5); // one a chunk
    assertThat(regions.largestFree()).isEqualTo(chunk);
  }

  private static void requireDistinct(List<Region> lent, long seed) {
    List<Region> sorted = lent.stream().sorted(Comparator.comparingLong(Region::offset)).toList();
    for (int i = 1; i < sorted.size(); i++) {
      assertThat(sorted.get(i).offset()).as("seed %s", seed).isGreaterThanOrEqualTo(sorted.get(i - 1).end());
    }
  }
}
