package io.penstock.examples.disaggregated.tensors;

/// Source of the weights of a model, by the names of a Llama checkpoint.
@FunctionalInterface
public interface TensorSource {
  /// The numbers of one tensor, row-major.
  ///
  /// @param shape that the tensor must have
  /// @throws ModelFileException if there is no such tensor, or not in this shape
  float[] tensor(String name, int... shape) throws ModelFileException;
}
