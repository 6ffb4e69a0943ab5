package io.penstock.examples.disaggregated.model;

/// Rotary position embedding: element *i* and element *i + half* are a pair that is turned by an angle, which grows
/// with the position and shrinks with *i*.
final class Rotary {
  private final int half;
  private final float[] cos;
  private final float[] sin;

  /// @param width of the vectors, even
  /// @param theta base of the angles
  /// @param positions greatest position, excluded
  Rotary(int width, double theta, int positions) {
    this.half = width / 2;
    this.cos = new float[positions * half];
    this.sin = new float[positions * half];
    for (int i = 0; i < half; i++) {
      double frequency = StrictMath.pow(theta, -2.0 * i / width);
      for (int position = 0; position < positions; position++) {
        cos[position * half + i] = (float) StrictMath.cos(position * frequency);
        sin[position * half + i] = (float) StrictMath.sin(position * frequency);
      }
    }
  }

  /// Turns the `2 × half` numbers from `from` on.
  void turn(float[] x, int from, int position) {
    for (int i = 0; i < half; i++) {
      float a = x[from + i];
      float b = x[from + half + i];
      float c = cos[position * half + i];
      float s = sin[position * half + i];
      x[from + i] = a * c - b * s;
      x[from + half + i] = b * c + a * s;
    }
  }
}
