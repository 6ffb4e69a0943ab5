package io.penstock.examples.disaggregated.model;

/// Divides a vector by its root mean square, and multiplies it by learnt weights.
final class RmsNorm {
  private final float[] weight;
  private final float epsilon;

  RmsNorm(float[] weight, float epsilon) {
    this.weight = weight;
    this.epsilon = epsilon;
  }

  float[] of(float[] x) {
    float mean = Vectors.dot(x, 0, x, 0, x.length) / x.length;
    float scale = 1 / (float) StrictMath.sqrt(mean + epsilon);
    float[] y = new float[x.length];
    for (int i = 0; i < x.length; i++) {
      y[i] = x[i] * scale * weight[i];
    }
    return y;
  }
}
