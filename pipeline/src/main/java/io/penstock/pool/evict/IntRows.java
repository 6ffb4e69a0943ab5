package io.penstock.pool.evict;

import io.penstock.check.Checks;
import java.util.Arrays;

/// Rows of a fixed number of `int` values, by small numbers: objects of a few fields without headers and pointers.
///
/// Rows lie in chunks, so growing copies at most one chunk and never needs the memory of two tables. Free rows are used
/// again first; their memory stays. Not thread-safe.
public final class IntRows {
  /// No row.
  public static final int NONE = -1;

  private static final int CHUNK_BITS = 12;
  private static final int CHUNK_ROWS = 1 << CHUNK_BITS;
  private static final int FIRST_ROWS = 16;

  private final int width;
  private int[][] chunks = new int[1][0];
  /// The next new row: the number of rows ever taken.
  private int rows;
  /// The row that was freed last. The first column of a free row names the row freed before it.
  private int given = NONE;
  private int size;

  /// @param width `int` values of a row
  public IntRows(int width) {
    this.width = Checks.positive("width", width);
  }

  /// Takes a row, whose content is undefined.
  ///
  /// @throws IllegalStateException if there are no more numbers
  public int take() {
    int row = given;
    if (row == NONE) {
      row = rows;
      grow();
    } else {
      given = get(row, 0);
    }
    size++;
    return row;
  }

  /// Gives a row back.
  public void give(int row) {
    set(row, 0, given);
    given = row;
    size--;
  }

  /// Gives all rows back, and their memory.
  public void clear() {
    chunks = new int[1][0];
    rows = 0;
    given = NONE;
    size = 0;
  }

  /// Frees the memory of the rows before `row`, which no caller reads again. Called with one row after the other.
  public void discard(int row) {
    int chunk = (row >>> CHUNK_BITS) - 1;
    if (chunk >= 0 && (row & (CHUNK_ROWS - 1)) == 0) {
      chunks[chunk] = new int[0];
    }
  }

  /// Rows that are taken.
  public int size() {
    return size;
  }

  private void grow() {
    if (rows == Integer.MAX_VALUE) {
      throw new IllegalStateException("rows must be < " + Integer.MAX_VALUE + " (was " + rows + ")");
    }
    int chunk = rows >>> CHUNK_BITS;
    if (chunk == chunks.length) {
      chunks = Arrays.copyOf(chunks, 2 * chunk);
    }
    int[] now = chunks[chunk];
    int index = rows & (CHUNK_ROWS - 1);
    if (now == null) {
      chunks[chunk] = new int[CHUNK_ROWS * width];
    } else if (index * width == now.length) { // the first chunk begins small
      chunks[chunk] = Arrays.copyOf(now, Math.max(FIRST_ROWS * width, 2 * now.length));
    }
    rows++;
  }

  public int get(int row, int column) {
    return chunks[row >>> CHUNK_BITS][(row & (CHUNK_ROWS - 1)) * width + column];
  }

  public void set(int row, int column, int value) {
    chunks[row >>> CHUNK_BITS][(row & (CHUNK_ROWS - 1)) * width + column] = value;
  }

  /// The long in `column` and the next one.
  public long getLong(int row, int column) {
    int[] chunk = chunks[row >>> CHUNK_BITS];
    int at = (row & (CHUNK_ROWS - 1)) * width + column;
    return (long) chunk[at] << 32 | (chunk[at + 1] & 0xFFFF_FFFFL);
  }

  public void setLong(int row, int column, long value) {
    int[] chunk = chunks[row >>> CHUNK_BITS];
    int at = (row & (CHUNK_ROWS - 1)) * width + column;
    chunk[at] = (int) (value >>> 32);
    chunk[at + 1] = (int) value;
  }
}
