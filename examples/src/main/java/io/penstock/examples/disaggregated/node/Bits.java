package io.penstock.examples.disaggregated.node;

import java.util.ArrayList;
import java.util.List;

/// Vectors in messages, as the bits of their numbers: decimal fractions would have to be read back exactly.
public final class Bits {
  private Bits() {}

  static List<Integer> of(float[] values) {
    List<Integer> bits = new ArrayList<>(values.length);
    for (float value : values) {
      bits.add(Float.floatToRawIntBits(value));
    }
    return bits;
  }

  public static float[] floats(List<Integer> bits) {
    float[] values = new float[bits.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = Float.intBitsToFloat(bits.get(i));
    }
    return values;
  }
}
