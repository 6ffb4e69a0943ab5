package io.penstock.examples.disaggregated.model;

/// A dense matrix, row-major, one row an input and one column an output: a vector is multiplied from the left.
///
/// An output is always summed over the inputs in ascending order, so it does not depend on which columns are computed
/// together. Java's `float` arithmetic is strict: no product is fused into a sum, and no sum is reordered.
public final class Matrix {
  private final int rows;
  private final int columns;
  private final float[] values;

  /// @param values `rows × columns` numbers, kept and not copied
  public Matrix(int rows, int columns, float[] values) {
    if ((long) rows * columns != values.length) {
      throw new IllegalArgumentException(
          "values must be " + rows + " × " + columns + " numbers (was " + values.length + ")");
    }
    this.rows = rows;
    this.columns = columns;
    this.values = values;
  }

  /// The matrix of a linear layer, which checkpoints store as `[outputs][inputs]`.
  public static Matrix ofLinear(int outputs, int inputs, float[] stored) {
    float[] values = new float[stored.length];
    for (int out = 0; out < outputs; out++) {
      for (int in = 0; in < inputs; in++) {
        values[in * outputs + out] = stored[out * inputs + in];
      }
    }
    return new Matrix(inputs, outputs, values);
  }

  public int rows() {
    return rows;
  }

  public int columns() {
    return columns;
  }

  /// Row `row`, copied.
  float[] row(int row) {
    float[] copy = new float[columns];
    System.arraycopy(values, row * columns, copy, 0, columns);
    return copy;
  }

  /// All outputs of `x`.
  float[] times(float[] x) {
    return times(x, 0, columns);
  }

  /// The outputs from `column` on, `count` of them.
  float[] times(float[] x, int column, int count) {
    float[] y = new float[count];
    addTimes(x, 0, column, y);
    return y;
  }

  /// Multiplies `x` with the rows from `row` on, `x.length` of them, and adds the results of the columns from `column`
  /// on to `y`.
  void addTimes(float[] x, int row, int column, float[] y) {
    for (int i = 0; i < x.length; i++) {
      float factor = x[i];
      int at = (row + i) * columns + column;
      for (int j = 0; j < y.length; j++) {
        y[j] += factor * values[at + j];
      }
    }
  }
}
