package io.penstock.examples.disaggregated.tensors;

import java.io.IOException;

/// Source of the weights of a model, by the names of a checkpoint.
@FunctionalInterface
public interface TensorSource extends AutoCloseable {
  /// The numbers of one tensor, row-major.
  ///
  /// @param shape that the tensor must have
  /// @throws ModelFileException if there is no such tensor, or not in this shape
  float[] tensor(String name, int... shape) throws ModelFileException;

  /// The numbers of one part of a tensor, row-major. A source that can read the part alone reads nothing else.
  ///
  /// @param shape that the whole tensor must have
  default float[] part(String name, Cut cut, int... shape) throws ModelFileException {
    return cut.of(tensor(name, shape), shape);
  }

  @Override
  default void close() throws IOException {}
}
