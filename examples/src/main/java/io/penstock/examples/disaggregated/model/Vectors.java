package io.penstock.examples.disaggregated.model;

/// The few operations on vectors. Each sums in ascending order; so every machine gets equal bits.
public final class Vectors {
  private Vectors() {}

  static float dot(float[] a, int aFrom, float[] b, int bFrom, int count) {
    float sum = 0;
    for (int i = 0; i < count; i++) {
      sum += a[aFrom + i] * b[bFrom + i];
    }
    return sum;
  }

  /// `to += from`.
  public static void add(float[] to, float[] from) {
    for (int i = 0; i < to.length; i++) {
      to[i] += from[i];
    }
  }

  /// `to = to × factor + from × fromFactor`.
  static void blend(float[] to, float factor, float[] from, float fromFactor) {
    for (int i = 0; i < to.length; i++) {
      to[i] = to[i] * factor + from[i] * fromFactor;
    }
  }

  static void scale(float[] vector, float factor) {
    for (int i = 0; i < vector.length; i++) {
      vector[i] *= factor;
    }
  }

  /// The activation of SwiGLU: `x × sigmoid(x)`.
  static float silu(float x) {
    return x / (1 + Exponential.of(-x));
  }

  /// Index of the greatest number, the first one among equals: greedy decoding.
  public static int argMax(float[] vector) {
    int best = 0;
    for (int i = 1; i < vector.length; i++) {
      best = vector[i] > vector[best] ? i : best;
    }
    return best;
  }
}
