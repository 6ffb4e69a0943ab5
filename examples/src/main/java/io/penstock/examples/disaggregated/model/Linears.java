package io.penstock.examples.disaggregated.model;

import io.penstock.examples.disaggregated.tensors.Cut;
import io.penstock.examples.disaggregated.tensors.ModelFileException;
import io.penstock.examples.disaggregated.tensors.TensorSource;
import java.util.Map;

/// The tensors below one prefix of a checkpoint, such as `model.layers.3.self_attn.`. A rank takes the rows or columns
/// that it needs, and nothing else is read.
record Linears(TensorSource source, Map<String, int[]> shapes, String prefix, float epsilon) {
  private static final float[] NONE = {};

  private int[] shape(String tensor) {
    int[] shape = shapes.get(tensor);
    if (shape == null) {
      throw new IllegalStateException("tensor " + tensor + " must be one of the model's");
    }
    return shape;
  }

  /// Some outputs of the matrix `NAME.weight`, which is stored as `[outputs][inputs]`.
  Matrix outputs(String name, int first, int count) throws ModelFileException {
    int[] shape = shape(prefix + name + ".weight");
    return Matrix.ofLinear(count, shape[1], rows(name, first, count));
  }

  Matrix all(String name) throws ModelFileException {
    return outputs(name, 0, shape(prefix + name + ".weight")[0]);
  }

  /// Some inputs of the matrix `NAME.weight`.
  Matrix inputs(String name, int first, int count) throws ModelFileException {
    String tensor = prefix + name + ".weight";
    int[] shape = shape(tensor);
    return Matrix.ofLinear(shape[0], count, source.part(tensor, Cut.columns(first, count, shape), shape));
  }

  /// Some rows of a matrix, as they are stored.
  float[] rows(String name, int first, int count) throws ModelFileException {
    String tensor = prefix + name + ".weight";
    int[] shape = shape(tensor);
    return source.part(tensor, Cut.rows(first, count, shape), shape);
  }

  /// Numbers of the bias of some outputs; none if the model has no such bias.
  float[] bias(String name, int first, int count) throws ModelFileException {
    String tensor = prefix + name + ".bias";
    int[] shape = shapes.get(tensor);
    return shape == null ? NONE : source.part(tensor, Cut.rows(first, count, shape), shape);
  }

  RmsNorm norm(String name) throws ModelFileException {
    return norm(name, epsilon);
  }

  RmsNorm norm(String name, float otherEpsilon) throws ModelFileException {
    String tensor = prefix + name + ".weight";
    return new RmsNorm(source.tensor(tensor, shape(tensor)), otherEpsilon);
  }

  Linears below(String name) {
    return new Linears(source, shapes, prefix + name + ".", epsilon);
  }
}
