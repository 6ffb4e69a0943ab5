package io.penstock.tier;

import io.penstock.block.BlockLayout;
import io.penstock.block.GranuleRange;
import io.penstock.tier.slice.SlicePlan;
import java.util.ArrayList;
import java.util.List;

/// The steps in which a [StoreWindow] reads its blocks: the whole granules of one cut after the other, then the layers
/// that the reader did not ask for, without which a block cannot stay in memory.
///
/// @param forReader how many steps the reader waits for; one more may follow
record ReadSteps(List<GranuleRange> all, int forReader) {
  static ReadSteps of(BlockLayout layout, int startLayer, List<SlicePlan.Cut> cuts) {
    List<GranuleRange> all = new ArrayList<>();
    int first = GranuleRange.layers(layout, startLayer, layout.layers()).first();
    int next = first;
    for (SlicePlan.Cut cut : cuts) {
      if (end(cut) > next) {
        all.add(GranuleRange.whole(next, end(cut) - next));
        next = end(cut);
      }
    }
    int forReader = all.size();
    if (first > 0) {
      all.add(GranuleRange.whole(0, first));
    }
    return new ReadSteps(List.copyOf(all), forReader);
  }

  private static int end(SlicePlan.Cut cut) {
    return cut.range().isWhole() ? cut.range().end() : cut.range().first() + 1;
  }

  int size() {
    return all.size();
  }

  GranuleRange get(int step) {
    return all.get(step);
  }

  /// Steps after which all of `cut` is there.
  int until(SlicePlan.Cut cut) {
    for (int i = 0; i < forReader; i++) {
      if (all.get(i).end() >= end(cut)) {
        return i + 1;
      }
    }
    return forReader;
  }
}
