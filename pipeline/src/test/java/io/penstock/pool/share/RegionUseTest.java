package io.penstock.pool.share;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.pool.share.RegionAllocator.Region;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// How much of the memory blocks use whose size is no power of two.
final class RegionUseTest {
  private static final long MEMORY = 1L << 30;

  /// Just above a power of two, where an allocator of size classes wastes nearly half; and sizes of real layouts.
  @ParameterizedTest
  @ValueSource(longs = {(1 << 16) + 1, (1 << 20) + 1, (1 << 22) + 1, (1 << 24) + 1, 2_248_704, 3_670_016, 11_534_336,
    61L * 128 * 1024, (1 << 16) - 1, 5_000_000})
  void oneSize_usesSevenEighths_andStillDoesUnderChurn(long bytes) {
    RegionAllocator regions = new RegionAllocator(MEMORY, MEMORY);
    List<Region> lent = new ArrayList<>();
    for (Region next = regions.allocate(bytes); next != null; next = regions.allocate(bytes)) {
      lent.add(next);
    }
    assertUse(lent.size(), bytes);
    Random random = new Random(bytes);
    for (int i = 0; i < 500; i++) {
      regions.free(lent.remove(random.nextInt(lent.size())));
      lent.add(requireNonNull(regions.allocate(bytes), "room of the same size"));
    }
    assertUse(lent.size(), bytes);
    lent.forEach(regions::free);
    assertThat(regions.largestFree()).isEqualTo(MEMORY);
  }

  private static void assertUse(int count, long bytes) {
    assertThat((double) count * bytes / MEMORY).isGreaterThanOrEqualTo(0.875);
  }

  /// Pairs of a long and a short region that come and go together, as keys and scales of a block would.
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void pairs_useNineteenTwentieths_underChurn(long seed) {
    long[] sizes = {2_248_704, 36_864};
    RegionAllocator regions = new RegionAllocator(MEMORY, MEMORY);
    Random random = new Random(seed);
    List<List<Region>> pairs = new ArrayList<>();
    double least = 1;
    for (int step = 0; step < 4000; step++) {
      List<Region> pair = pair(regions, sizes);
      while (pair == null) {
        if (step > 1000) {
          least = Math.min(least, (double) pairs.size() * (sizes[0] + sizes[1]) / MEMORY);
        }
        pairs.remove(random.nextInt(pairs.size())).forEach(regions::free);
        pair = pair(regions, sizes);
      }
      pairs.add(pair);
    }
    assertThat(least).as("seed %s", seed).isGreaterThanOrEqualTo(0.95);
  }

  private static List<Region> pair(RegionAllocator regions, long[] sizes) {
    List<Region> pair = new ArrayList<>();
    for (long size : sizes) {
      Region region = regions.allocate(size);
      if (region == null) {
        pair.forEach(regions::free);
        return null;
      }
      pair.add(region);
    }
    return pair;
  }
}
