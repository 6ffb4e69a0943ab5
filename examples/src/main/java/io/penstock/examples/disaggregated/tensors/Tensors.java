package io.penstock.examples.disaggregated.tensors;

/// Shapes of tensors.
final class Tensors {
  private Tensors() {}

  /// Elements of a tensor.
  ///
  /// @throws ArithmeticException if they are more than a `long` counts
  static long elements(int... shape) {
    long elements = 1;
    for (int axis : shape) {
      elements = Math.multiplyExact(elements, axis);
    }
    return elements;
  }
}
