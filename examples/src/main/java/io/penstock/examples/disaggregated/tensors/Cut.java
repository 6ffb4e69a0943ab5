package io.penstock.examples.disaggregated.tensors;

/// Some rows and columns of a tensor. A tensor with one axis is a column.
///
/// @param row the first
/// @param column the first
public record Cut(int row, int rows, int column, int columns) {
  public Cut {
    if (row < 0 || rows < 0 || column < 0 || columns < 0) {
      throw new IllegalArgumentException("cut must have numbers >= 0 (was %d, %d, %d, %d)".formatted(row, rows, column,
          columns));
    }
  }

  /// All columns of some rows.
  public static Cut rows(int row, int rows, int... shape) {
    return new Cut(row, rows, 0, width(shape));
  }

  /// All rows of some columns.
  public static Cut columns(int column, int columns, int... shape) {
    return new Cut(0, height(shape), column, columns);
  }

  public static Cut whole(int... shape) {
    return rows(0, height(shape), shape);
  }

  private static int height(int... shape) {
    return shape.length == 0 ? 1 : shape[0];
  }

  /// Elements of a row.
  static int width(int... shape) {
    int width = 1;
    for (int axis = 1; axis < shape.length; axis++) {
      width = Math.multiplyExact(width, shape[axis]);
    }
    return width;
  }

  int elements() {
    return Math.multiplyExact(rows, columns);
  }

  void requireInside(String name, int... shape) {
    if (row + rows > height(shape) || column + columns > width(shape)) {
      throw new IllegalArgumentException("cut must lie in %s (was %s)".formatted(name, this));
    }
  }

  float[] of(float[] tensor, int... shape) {
    int width = width(shape);
    float[] part = new float[elements()];
    for (int i = 0; i < rows; i++) {
      System.arraycopy(tensor, (row + i) * width + column, part, i * columns, columns);
    }
    return part;
  }
}
