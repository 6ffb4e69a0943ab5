package io.penstock.examples.pipe;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import java.util.Arrays;
import java.util.List;

/// Shape of a tensor, without its bytes.
///
/// @param type of the elements, little-endian
/// @param dimensions from the outermost; none for a scalar, 0 for a tensor without elements
public record TensorShape(TensorType type, List<Long> dimensions) {
  /// Maximum number of dimensions.
  public static final int MOST_DIMENSIONS = 8;

  public TensorShape {
    requireNonNull(type, "type");
    dimensions = List.copyOf(dimensions);
    if (dimensions.size() > MOST_DIMENSIONS) {
      throw new IllegalArgumentException(
          "dimensions must be <= " + MOST_DIMENSIONS + " (was " + dimensions.size() + ")");
    }
    for (long dimension : dimensions) {
      Checks.notNegative("dimension", dimension);
    }
    bytes(type, dimensions);
  }

  public static TensorShape of(TensorType type, long... dimensions) {
    return new TensorShape(type, Arrays.stream(dimensions).boxed().toList());
  }

  /// Bytes of all elements.
  public long bytes() {
    return bytes(type, dimensions);
  }

  private static long bytes(TensorType type, List<Long> dimensions) {
    long bytes = type.bytes();
    for (long dimension : dimensions) {
      try {
        bytes = Math.multiplyExact(bytes, dimension);
      } catch (ArithmeticException e) {
        throw new IllegalArgumentException(
            "bytes must be <= " + Long.MAX_VALUE + " (was " + type + " × " + dimensions + ")", e);
      }
    }
    return bytes;
  }
}
