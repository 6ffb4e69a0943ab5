package io.penstock.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.pool.RegionAllocator.Region;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Best fit as the book defines it, on a bit a page, and the edges of every operation.
@Timeout(30)
final class RegionAllocatorModelTest {
  private static final int PAGE = RegionAllocator.ALIGNMENT_BYTES;

  private static RegionAllocator ofPages(long total, long chunk) {
    return new RegionAllocator(total * PAGE, chunk * PAGE);
  }

  private static Region pages(long offset, long count) {
    return new Region(offset * PAGE, count * PAGE);
  }

  // Arguments

  @ParameterizedTest
  @CsvSource({"0, 4096, totalBytes must be >= 4096 (was 0)", "4095, 4096, totalBytes must be >= 4096 (was 4095)",
    "-1, 4096, totalBytes must be >= 4096 (was -1)", "4096, 0, chunkBytes must be > 0 (was 0)",
    "4096, -4096, chunkBytes must be > 0 (was -4096)", "4096, 4097, chunkBytes must be a multiple of 4096 (was 4097)"})
  void wrongSizes_areRefused(long total, long chunk, String message) {
    assertThatThrownBy(() -> new RegionAllocator(total, chunk)).isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, Long.MIN_VALUE})
  void allocate_nothing_isRefused(long bytes) {
    RegionAllocator regions = ofPages(4, 4);
    assertThatThrownBy(() -> regions.allocate(bytes)).isInstanceOf(IllegalArgumentException.class)
        .hasMessage("bytes must be > 0 (was " + bytes + ")");
    assertThat(regions.freeBytes()).isEqualTo(4 * PAGE);
  }

  /// A length that cannot be rounded up took the smallest region once, and left a free length below zero.
  @ParameterizedTest
  @ValueSource(longs = {4 * PAGE + 1, Long.MAX_VALUE - PAGE, Long.MAX_VALUE - 1, Long.MAX_VALUE})
  void allocate_moreThanThereIs_takesNothing(long bytes) {
    RegionAllocator regions = ofPages(4, 4);
    assertThat(regions.allocate(bytes)).isNull();
    assertThat(regions.freeBytes()).isEqualTo(4 * PAGE);
    assertThat(regions.largestFree()).isEqualTo(4 * PAGE);
    assertThat(regions.allocate(4 * PAGE)).isEqualTo(pages(0, 4));
  }

  @Test
  void memoryNearTheLargestLong_isDividedWithoutOverflow() {
    long chunk = 1L << 62;
    RegionAllocator regions = new RegionAllocator(Long.MAX_VALUE, chunk);
    assertThat(regions.freeRegions()).isEqualTo(2);
    assertThat(regions.totalBytes()).isEqualTo(Long.MAX_VALUE / PAGE * PAGE);
    assertThat(regions.largestFree()).isEqualTo(chunk);
    assertThat(regions.allocate(chunk)).isEqualTo(new Region(0, chunk));
    Region last = Objects.requireNonNull(regions.allocate(chunk - PAGE));
    assertThat(last.end()).isEqualTo(regions.totalBytes());
    assertThat(regions.freeRegions()).isZero();
  }

  @Test
  void bytesBeyondTheLastPage_areLeftOut() {
    RegionAllocator regions = new RegionAllocator(3 * PAGE - 1, PAGE);
    assertThat(regions.totalBytes()).isEqualTo(2 * PAGE);
    assertThat(regions.freeRegions()).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "4095, 1", "4096, 1", "4097, 2", "8192, 2", "8193, 3"})
  void length_isRoundedUpToPages(long bytes, long expected) {
    assertThat(ofPages(4, 4).allocate(bytes)).isEqualTo(pages(0, expected));
    assertThat(RegionAllocator.aligned(bytes)).isEqualTo(expected * PAGE);
  }

  // Edges

  @Test
  void onePage_isLentAndComesBack() {
    RegionAllocator regions = ofPages(1, 1);
    Region only = Objects.requireNonNull(regions.allocate(1));
    assertThat(regions.allocate(1)).isNull();
    assertThat(regions.largestFree()).isZero();
    assertThat(regions.free(only)).isEqualTo(pages(0, 1));
    assertThat(regions.allocate(PAGE)).isEqualTo(only);
  }

  @Test
  void exactFit_leavesNoRest() {
    RegionAllocator regions = ofPages(6, 6);
    Region first = Objects.requireNonNull(regions.allocate(2 * PAGE));
    regions.allocate(PAGE);
    regions.free(first);
    assertThat(regions.freeRegions()).isEqualTo(2);
    assertThat(regions.allocate(2 * PAGE)).isEqualTo(pages(0, 2));
    assertThat(regions.freeRegions()).isEqualTo(1);
  }

  @Test
  void equalLengths_giveTheLowestOffset() {
    RegionAllocator regions = ofPages(8, 2);
    for (int chunk = 0; chunk < 4; chunk++) {
      assertThat(regions.allocate(2 * PAGE)).isEqualTo(pages(2L * chunk, 2));
    }
  }

  @Test
  void freedRegion_mergesWithBothNeighbours_inAnyOrder() {
    for (int[] order : new int[][] {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}) {
      RegionAllocator regions = ofPages(3, 3);
      List<Region> lent = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        lent.add(Objects.requireNonNull(regions.allocate(PAGE)));
      }
      Region merged = regions.free(lent.get(order[0]));
      assertThat(merged).isEqualTo(lent.get(order[0]));
      regions.free(lent.get(order[1]));
      assertThat(regions.around(lent.get(order[2]))).isEqualTo(pages(0, 3));
      assertThat(regions.free(lent.get(order[2]))).isEqualTo(pages(0, 3));
      assertThat(regions.freeRegions()).isEqualTo(1);
    }
  }

  @Test
  void freedRegion_doesNotMergeAcrossChunks() {
    RegionAllocator regions = ofPages(6, 2);
    Region middle = null;
    for (int chunk = 0; chunk < 3; chunk++) {
      Region region = Objects.requireNonNull(regions.allocate(2 * PAGE));
      middle = chunk == 1 ? region : middle;
    }
    Region lent = Objects.requireNonNull(middle);
    regions.free(pages(0, 2));
    regions.free(pages(4, 2));
    assertThat(regions.around(lent)).isEqualTo(lent);
    assertThat(regions.free(lent)).isEqualTo(lent);
    assertThat(regions.freeRegions()).isEqualTo(3);
  }

  @Test
  void around_changesNothing() {
    RegionAllocator regions = ofPages(4, 4);
    Region first = Objects.requireNonNull(regions.allocate(PAGE));
    assertThat(regions.around(first)).isEqualTo(pages(0, 4));
    assertThat(regions.freeBytes()).isEqualTo(3 * PAGE);
    assertThat(regions.freeRegions()).isEqualTo(1);
  }

  @Test
  void freeOfWhatIsNotLent_isRefused_andChangesNothing() {
    RegionAllocator regions = ofPages(4, 4);
    regions.allocate(2 * PAGE);
    for (Region wrong : List.of(pages(0, 1), pages(1, 1), pages(0, 4), pages(2, 2), pages(99, 1))) {
      assertThatThrownBy(() -> regions.free(wrong)).isInstanceOf(IllegalStateException.class)
          .hasMessage("region must be lent (was free, " + wrong + ")");
    }
    assertThat(regions.freeBytes()).isEqualTo(2 * PAGE);
    assertThat(regions.free(pages(0, 2))).isEqualTo(pages(0, 4));
  }

  // The book

  /// Finds the best fit by looking at every page.
  private static final class Pages {
    private final BitSet taken = new BitSet();
    private final int total;
    private final int chunk;

    Pages(int total, int chunk) {
      this.total = total;
      this.chunk = chunk;
    }

    /// Free regions, by offset.
    List<Region> free() {
      List<Region> free = new ArrayList<>();
      int start = -1;
      for (int page = 0; page <= total; page++) {
        boolean ends = page == total || taken.get(page) || page % chunk == 0;
        if (ends && start >= 0) {
          free.add(pages(start, page - start));
          start = -1;
        }
        if (start < 0 && page < total && !taken.get(page)) {
          start = page;
        }
      }
      return free;
    }

    @Nullable Region allocate(int count) {
      Region best = null;
      for (Region region : free()) {
        if (region.bytes() >= (long) count * PAGE && (best == null || region.bytes() < best.bytes())) {
          best = region;
        }
      }
      Region taken = best == null ? null : new Region(best.offset(), (long) count * PAGE);
      if (taken != null) {
        set(taken, true);
      }
      return taken;
    }

    void set(Region region, boolean isTaken) {
      taken.set((int) (region.offset() / PAGE), (int) (region.end() / PAGE), isTaken);
    }
  }

  @ParameterizedTest
  @CsvSource({"1, 40, 40", "2, 61, 16", "3, 100, 100", "4, 7, 3", "5, 64, 1"})
  void operationsAtRandom_takeTheBestFit(int seed, int total, int chunk) {
    Random random = new Random(seed);
    RegionAllocator regions = ofPages(total, chunk);
    Pages model = new Pages(total, chunk);
    List<Region> lent = new ArrayList<>();
    for (int step = 0; step < 3_000; step++) {
      if (lent.isEmpty() || random.nextInt(5) < 3) {
        int count = 1 + random.nextInt(random.nextBoolean() ? 3 : chunk + 2);
        Region region = regions.allocate((long) count * PAGE - random.nextInt(PAGE));
        assertThat(region).as("seed %d, step %d, %d pages", seed, step, count).isEqualTo(model.allocate(count));
        if (region != null) {
          lent.add(region);
        }
      } else {
        Region region = lent.remove(random.nextInt(lent.size()));
        model.set(region, false);
        Region merged = regions.free(region);
        assertThat(model.free()).as("seed %d, step %d", seed, step).contains(merged);
      }
      List<Region> free = model.free();
      assertThat(regions.freeRegions()).as("seed %d, step %d", seed, step).isEqualTo(free.size());
      assertThat(regions.freeBytes()).isEqualTo(free.stream().mapToLong(Region::bytes).sum());
      assertThat(regions.largestFree()).isEqualTo(free.stream().mapToLong(Region::bytes).max().orElse(0));
    }
  }
}
