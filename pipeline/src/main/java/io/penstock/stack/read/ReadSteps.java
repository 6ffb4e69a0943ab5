package io.penstock.stack.read;

import io.penstock.block.BlockLayout;
import io.penstock.block.GranuleRange;
import io.penstock.tier.slice.SlicePlan;
import java.util.ArrayList;
import java.util.List;

/// The steps in which a [StoreWindow] reads its blocks. First come the whole granules of one cut after the other. The
/// last step reads the layers that the reader left out: only a whole block can stay in memory.
///
/// @param forReader number of steps that the reader needs; one more step may follow
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

  /// Number of steps after which all bytes of `cut` are in memory.
  int until(SlicePlan.Cut cut) {
    for (int i = 0; i < forReader; i++) {
      if (all.get(i).end() >= end(cut)) {
        return i + 1;
      }
    }
    return forReader;
  }
}
