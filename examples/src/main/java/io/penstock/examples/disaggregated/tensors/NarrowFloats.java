package io.penstock.examples.disaggregated.tensors;

/// The conversion that the JDK lacks.
public final class NarrowFloats {
  private NarrowFloats() {}

  /// The upper half of `value`'s bits, rounded to the nearest, to the even one of two; NaN stays NaN.
  public static short toBf16(float value) {
    int bits = Float.floatToIntBits(value);
    if (Float.isNaN(value)) {
      return (short) (bits >>> 16);
    }
    return (short) ((bits + 0x7FFF + ((bits >>> 16) & 1)) >>> 16);
  }

  /// The number whose upper half is `bits`.
  public static float ofBf16(short bits) {
    return Float.intBitsToFloat(bits << 16);
  }
}
