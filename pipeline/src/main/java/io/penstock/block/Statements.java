package io.penstock.block;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Which granules of a draft, and which rows of them, its writer has stated, and their checksums. Guarded by its draft.
///
/// What was stated is final: it is never stated anew, so a checksum is always the one of the bytes as they were
/// produced.
final class Statements {
  private final BlockLayout layout;
  private final int[] checksums;
  private final BitSet whole;
  /// Granules of which only some rows were stated: first row → (rows, CRC).
  private final Map<Integer, TreeMap<Integer, Rows>> partial = new HashMap<>(0);

  private record Rows(int count, int crc) {}

  Statements(BlockLayout layout) {
    this.layout = layout;
    this.checksums = new int[layout.granules()];
    this.whole = new BitSet(layout.granules());
  }

  /// One a granule; those of stated granules are final. Shared, not copied.
  int[] checksums() {
    return checksums;
  }

  /// The first granule not stated in full; the number of granules if there is none.
  int firstMissing() {
    return whole.nextClearBit(0);
  }

  int missing() {
    return layout.granules() - whole.cardinality();
  }

  /// True if every granule of `range` was stated in full.
  boolean cover(GranuleRange range) {
    return whole.nextClearBit(range.first()) >= range.end();
  }

  /// The CRC of `rows`, which were stated just so, of a granule that still lacks others; null if they were not.
  @Nullable Integer crcOfRows(GranuleRange rows) {
    Rows same = rows.isWhole() ? null : stated(rows);
    return same == null ? null : same.crc();
  }

  /// True if any byte of `range` was stated.
  boolean touch(GranuleRange range) {
    int stated = whole.nextSetBit(range.first());
    if (stated >= 0 && stated < range.end()) {
      return true;
    }
    if (partial.isEmpty()) {
      return false;
    }
    if (!range.isWhole()) {
      return touchRows(range);
    }
    return partial.keySet().stream().anyMatch(granule -> granule >= range.first() && granule < range.end());
  }

  /// The parts of `range` that were not stated: runs of granules, or its rows as they are.
  List<GranuleRange> rest(GranuleRange range) {
    if (!range.isWhole()) {
      return whole.get(range.first()) || stateAlike(range) ? List.of() : List.of(range);
    }
    List<GranuleRange> rest = new ArrayList<>(1);
    for (int first = whole.nextClearBit(range.first()); first < range.end();) {
      int stated = whole.nextSetBit(first);
      int end = stated < 0 ? range.end() : Math.min(stated, range.end());
      rest.add(GranuleRange.whole(first, end - first));
      first = whole.nextClearBit(end);
    }
    return rest;
  }

  private boolean stateAlike(GranuleRange rows) {
    return stated(rows) != null;
  }

  private @Nullable Rows stated(GranuleRange rows) {
    TreeMap<Integer, Rows> parts = partial.get(rows.first());
    Rows same = parts == null ? null : parts.get(rows.firstRow());
    return same != null && same.count() == rows.rows() ? same : null;
  }

  /// States `range`, whose checksums are `sums`; what was stated before stays as it was.
  ///
  /// @throws IllegalStateException if some but not all rows of `range` were stated before
  void state(GranuleRange range, int[] sums) {
    if (range.isWhole()) {
      for (int i = 0; i < sums.length; i++) {
        stateGranule(range.first() + i, sums[i]);
      }
    } else if (!whole.get(range.first())) {
      stateRows(range, sums[0]);
    }
  }

  private void stateGranule(int granule, int crc) {
    if (!whole.get(granule)) {
      checksums[granule] = crc;
      whole.set(granule);
      partial.remove(granule);
    }
  }

  private void stateRows(GranuleRange range, int crc) {
    if (stateAlike(range)) {
      return;
    } else if (touchRows(range)) {
      throw new IllegalStateException("rows must not be stated twice (was " + range + ")");
    }
    TreeMap<Integer, Rows> parts = partial.computeIfAbsent(range.first(), granule -> new TreeMap<>());
    parts.put(range.firstRow(), new Rows(range.rows(), crc));
    joinRows(range.first(), parts);
  }

  private void joinRows(int granule, TreeMap<Integer, Rows> parts) {
    if (parts.values().stream().mapToInt(Rows::count).sum() < layout.rows(granule)) {
      return;
    }
    int sum = 0;
    for (Rows rows : parts.values()) {
      sum = Checksum.combine(sum, rows.crc(), (long) rows.count() * layout.rowBytes(granule));
    }
    stateGranule(granule, sum);
  }

  private boolean touchRows(GranuleRange range) {
    TreeMap<Integer, Rows> parts = partial.get(range.first());
    if (parts == null) {
      return false;
    }
    Map.Entry<Integer, Rows> before = parts.lowerEntry(range.firstRow() + range.rows());
    return before != null && before.getKey() + before.getValue().count() > range.firstRow();
  }
}
