package io.penstock.block;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.check.Checksum;
import java.util.OptionalInt;
import java.util.function.IntConsumer;

/// Checksums of the rows of one granule, in runs of one length; the last run may be shorter. The slices of a granule
/// ask for one run after the other: one pass over the granule computes them all.
final class RowChecksums {
  private final int granule;
  @GuardedBy("this") private int rowsOfRun;
  @GuardedBy("this") private int[] runs = {};

  RowChecksums(int granule) {
    this.granule = granule;
  }

  boolean isOf(int other) {
    return granule == other;
  }

  /// CRC32C of `range`. Empty unless `range` is one of the runs into which runs of its length, or of the last requested
  /// length, cut the granule.
  ///
  /// @param compare receives the checksum of the whole granule before the others are kept; throws if it differs
  synchronized OptionalInt of(GranuleRange range, BlockLayout layout, Slot slot, IntConsumer compare) {
    if (!isRun(range, rowsOfRun, layout)) {
      if (!isRun(range, range.rows(), layout)) {
        return OptionalInt.empty();
      }
      int[] computed = computed(range.rows(), layout, slot, compare);
      rowsOfRun = range.rows();
      runs = computed;
    }
    return OptionalInt.of(runs[range.firstRow() / rowsOfRun]);
  }

  private int[] computed(int rows, BlockLayout layout, Slot slot, IntConsumer compare) {
    int all = layout.rows(granule);
    int[] sums = new int[Math.ceilDiv(all, rows)];
    int whole = 0; // of no bytes
    for (int i = 0; i < sums.length; i++) {
      GranuleRange run = GranuleRange.rows(granule, i * rows, Math.min(rows, all - i * rows));
      sums[i] = slot.checksum(run.offset(layout), run.bytes(layout));
      whole = Checksum.combine(whole, sums[i], run.bytes(layout));
    }
    compare.accept(whole);
    return sums;
  }

  private static boolean isRun(GranuleRange range, int rows, BlockLayout layout) {
    return rows > 0 && range.firstRow() % rows == 0
        && range.rows() == Math.min(rows, layout.rows(range.first()) - range.firstRow());
  }
}
