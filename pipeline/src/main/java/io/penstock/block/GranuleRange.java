package io.penstock.block;

import io.penstock.check.Checks;
import org.jspecify.annotations.Nullable;

/// A contiguous part of a block: a run of whole granules, or a run of rows inside one granule.
///
/// @param first first granule
/// @param count number of granules
/// @param firstRow first row inside the granule; 0 unless `count` is 1
/// @param rows number of rows, or [#WHOLE] for all of them
public record GranuleRange(int first, int count, int firstRow, int rows) {
  /// All rows of every granule in the range.
  public static final int WHOLE = -1;

  public GranuleRange {
    Checks.notNegative("first", first);
    Checks.positive("count", count);
    if (first + count < 0) {
      throw new IllegalArgumentException(
          "first + count must be <= " + Integer.MAX_VALUE + " (was " + first + " + " + count + ")");
    }
    Checks.notNegative("firstRow", firstRow);
    if (rows != WHOLE && (rows <= 0 || count != 1)) {
      throw new IllegalArgumentException("rows must be > 0 and inside one granule (was " + rows + " of " + count + ")");
    }
    if (rows == WHOLE && firstRow != 0) {
      throw new IllegalArgumentException("firstRow must be 0 for whole granules (was " + firstRow + ")");
    }
  }

  /// All rows of `count` granules from `first` on.
  public static GranuleRange whole(int first, int count) {
    return new GranuleRange(first, count, 0, WHOLE);
  }

  /// Every granule of the layers from `from` to `to`, excluded; at least one layer, inside `layout`.
  ///
  /// @throws IndexOutOfBoundsException if they are no layers of `layout`
  public static GranuleRange layers(BlockLayout layout, int from, int to) {
    if (from < 0 || from >= to) {
      throw new IndexOutOfBoundsException("layers must begin in [0, " + to + ") (was " + from + ")");
    }
    if (to > layout.layers()) {
      throw new IndexOutOfBoundsException("layers must end at <= " + layout.layers() + " (was " + to + ")");
    }
    int planes = layout.planes().size();
    return whole(from * planes, (to - from) * planes);
  }

  /// The whole block.
  public static GranuleRange all(BlockLayout layout) {
    return whole(0, layout.granules());
  }

  /// `rows` rows of one granule, from `firstRow` on.
  public static GranuleRange rows(int granule, int firstRow, int rows) {
    return new GranuleRange(granule, 1, firstRow, rows);
  }

  /// True if this is a run of whole granules.
  public boolean isWhole() {
    return rows == WHOLE;
  }

  /// One past the last granule.
  public int end() {
    return first + count;
  }

  /// Byte offset of this range inside a block.
  public int offset(BlockLayout layout) {
    return layout.granuleOffset(first) + (isWhole() ? 0 : firstRow * layout.rowBytes(first));
  }

  /// Bytes of this range in a block.
  public int bytes(BlockLayout layout) {
    return isWhole() ? layout.granuleOffset(end()) - layout.granuleOffset(first) : rows * layout.rowBytes(first);
  }

  /// True if every byte of `part` belongs to this range.
  public boolean contains(GranuleRange part) {
    if (isWhole()) {
      return part.first >= first && part.end() <= end();
    }
    return part.first == first && !part.isWhole() && part.firstRow >= firstRow
        && (long) part.firstRow + part.rows <= (long) firstRow + rows;
  }

  @Override
  public boolean equals(@Nullable Object other) { // without method handles, as in SpaceId
    return other instanceof GranuleRange same && first == same.first && count == same.count
        && firstRow == same.firstRow && rows == same.rows;
  }

  @Override
  public int hashCode() {
    return ((31 * first + count) * 31 + firstRow) * 31 + rows;
  }

  /// Throws unless this range lies inside a block of `layout`. [#offset] and [#bytes] mean something only then.
  ///
  /// @throws IndexOutOfBoundsException naming the bound that is broken
  public void requireInside(BlockLayout layout) {
    if (end() > layout.granules()) {
      throw new IndexOutOfBoundsException(
          "granules must end at <= " + layout.granules() + " (was " + first + " + " + count + ")");
    }
    if (!isWhole() && (long) firstRow + rows > layout.rows(first)) {
      throw new IndexOutOfBoundsException(
          "rows must end at <= " + layout.rows(first) + " (was " + firstRow + " + " + rows + ")");
    }
  }
}
