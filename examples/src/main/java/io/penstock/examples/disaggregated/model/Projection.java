package io.penstock.examples.disaggregated.model;

import io.penstock.examples.disaggregated.tensors.ModelFileException;

/// Some heads, or columns, of a linear layer: those that one rank has.
///
/// @param matrix of all outputs of the rank
/// @param bias of the same outputs; empty for none
/// @param first number of the rank's first head
/// @param width outputs of a head
record Projection(Matrix matrix, float[] bias, int first, int width) {
  /// Heads whose outputs begin behind `before` others of the tensor.
  static Projection load(Linears linears, String name, int before, int first, int count, int width)
      throws ModelFileException {
    int row = before + first * width;
    return new Projection(linears.outputs(name, row, count * width), linears.bias(name, row, count * width), first,
        width);
  }

  /// Outputs of one head, numbered as in the model.
  float[] of(float[] x, int head) {
    int column = (head - first) * width;
    float[] y = matrix.times(x, column, width);
    for (int i = 0; i < width && bias.length > 0; i++) {
      y[i] += bias[column + i];
    }
    return y;
  }
}
