package io.penstock.examples.disaggregated.tensors;

import java.util.Arrays;
import java.util.List;

/// Entry of one tensor in the header of a safetensors file.
///
/// @param type of the elements
/// @param shape lengths of the axes, the slowest first
/// @param begin offset of the first byte behind the header
/// @param end offset one past the last byte
record StoredTensor(StoredType type, List<Integer> shape, long begin, long end) {
  StoredTensor {
    shape = List.copyOf(shape);
  }

  boolean hasShape(int[] wanted) {
    return Arrays.equals(shape.stream().mapToInt(Integer::intValue).toArray(), wanted);
  }

  long bytes() {
    return end - begin;
  }
}
