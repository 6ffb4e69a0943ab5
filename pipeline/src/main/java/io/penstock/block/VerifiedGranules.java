package io.penstock.block;

import io.penstock.check.Checksum;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The verified granules and rows of a draft, and their checksums. The draft guards it.
///
/// Verified bytes are final, so a checksum is always that of the bytes as they were produced.
final class VerifiedGranules {
  private final BlockLayout layout;
  private final int[] checksums;
  private final BitSet whole;
  /// Granules with some of their rows: first row → (rows, CRC).
  private Map<Integer, TreeMap<Integer, Rows>> partial = Map.of();

  /// @param expected CRC of the whole granule, with which the rows are verified once all have come; null for rows that
  ///     are verified
  private record Rows(int count, int crc, @Nullable Integer expected) {}

  VerifiedGranules(BlockLayout layout) {
    this.layout = layout;
    this.checksums = new int[layout.granules()];
    this.whole = new BitSet(layout.granules());
  }

  /// One checksum a granule, final for verified granules. Shared, not copied.
  int[] checksums() {
    return checksums;
  }

  /// The first granule that is not verified; the number of granules if all are.
  int firstMissing() {
    return whole.nextClearBit(0);
  }

  int missing() {
    return layout.granules() - whole.cardinality();
  }

  /// True if every granule of `range` is verified.
  boolean cover(GranuleRange range) {
    return whole.nextClearBit(range.first()) >= range.end();
  }

  /// The CRC of `rows`, while other rows of their granule are missing; null if exactly these rows were not verified as
  /// one run.
  @Nullable Integer crcOfRows(GranuleRange rows) {
    Rows same = rows.isWhole() ? null : verifiedRows(rows);
    return same == null ? null : same.crc();
  }

  /// True if any byte of `range` has arrived.
  boolean touch(GranuleRange range) {
    int next = whole.nextSetBit(range.first());
    if (next >= 0 && next < range.end()) {
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

  /// The parts of `range` that are not verified: runs of granules, or the rows of `range`.
  List<GranuleRange> missing(GranuleRange range) {
    if (!range.isWhole()) {
      return whole.get(range.first()) || verifiedRows(range) != null ? List.of() : List.of(range);
    }
    List<GranuleRange> missing = new ArrayList<>(1);
    for (int first = whole.nextClearBit(range.first()); first < range.end();) {
      int next = whole.nextSetBit(first);
      int end = next < 0 ? range.end() : Math.min(next, range.end());
      missing.add(GranuleRange.whole(first, end - first));
      first = whole.nextClearBit(end);
    }
    return missing;
  }

  private @Nullable Rows verifiedRows(GranuleRange rows) {
    Rows same = sameRows(rows);
    return same == null || same.expected() != null ? null : same;
  }

  private @Nullable Rows sameRows(GranuleRange rows) {
    TreeMap<Integer, Rows> parts = partial.get(rows.first());
    Rows same = parts == null ? null : parts.get(rows.firstRow());
    return same != null && same.count() == rows.rows() ? same : null;
  }

  /// A granule whose bytes differ from its checksum.
  record Difference(int granule, int expected, int actual) {}

  /// Adds `range`, whose checksums are `sums`. Parts verified before stay as they are.
  ///
  /// @return the first complete granule that differs from the checksum that came with its rows; these rows then count
  ///     as missing
  /// @throws IllegalStateException if some but not all rows of `range` arrived before
  @Nullable Difference add(GranuleRange range, int[] sums) {
    if (!range.isWhole()) {
      return whole.get(range.first()) ? null : addRows(range, sums[0], null);
    }
    if (partial.isEmpty() && !touch(range)) { // the rule: no granule of it came before
      System.arraycopy(sums, 0, checksums, range.first(), sums.length);
      whole.set(range.first(), range.end());
      return null;
    }
    Difference first = null;
    for (int i = 0; i < sums.length; i++) {
      Difference found = addGranule(range.first() + i, sums[i]);
      first = first == null ? found : first;
    }
    return first;
  }

  private @Nullable Difference addGranule(int granule, int crc) {
    if (whole.get(granule)) {
      return null;
    }
    if (!partial.isEmpty()) {
      TreeMap<Integer, Rows> parts = partial.remove(granule);
      Difference found = parts == null ? null : difference(granule, parts, crc);
      if (found != null) {
        return found;
      }
    }
    checksums[granule] = crc;
    whole.set(granule);
    return null;
  }

  /// The checksum that came with rows of `granule`, if it differs from `crc`. Rows that were verified by themselves
  /// stay.
  private @Nullable Difference difference(int granule, TreeMap<Integer, Rows> parts, int crc) {
    for (Rows rows : parts.values()) {
      if (rows.expected() != null && rows.expected() != crc) {
        parts.values().removeIf(owing -> owing.expected() != null);
        if (!parts.isEmpty()) {
          partial.put(granule, parts);
        }
        return new Difference(granule, rows.expected(), crc);
      }
    }
    return null;
  }

  /// Adds rows whose checksum is `crc`, verified once the whole granule is there and has the CRC `expected`; else as
  /// [#add].
  @Nullable Difference addRows(GranuleRange range, int crc, @Nullable Integer expected) {
    if (sameRows(range) != null) {
      return null;
    } else if (touchRows(range)) {
      throw new IllegalStateException("rows must not be verified twice (was " + range + ")");
    }
    if (partial.isEmpty()) {
      partial = new HashMap<>();
    }
    TreeMap<Integer, Rows> parts = partial.computeIfAbsent(range.first(), granule -> new TreeMap<>());
    parts.put(range.firstRow(), new Rows(range.rows(), crc, expected));
    return joinRows(range.first(), parts);
  }

  private @Nullable Difference joinRows(int granule, TreeMap<Integer, Rows> parts) {
    if (parts.values().stream().mapToInt(Rows::count).sum() < layout.rows(granule)) {
      return null;
    }
    int sum = 0;
    for (Rows rows : parts.values()) {
      sum = Checksum.combine(sum, rows.crc(), (long) rows.count() * layout.rowBytes(granule));
    }
    return addGranule(granule, sum);
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
