package io.penstock.examples.disaggregated.model;

/// A softmax over some tokens of a sequence, not yet divided: it can be joined with the softmax of the following
/// tokens.
///
/// Ranks that have different tokens of one head exchange these. Joins are made in the order of the tokens, because
/// `float` sums depend on their order.
public final class Softmax {
  private float max;
  private float sum;
  private final float[] mixed;

  Softmax(float max, float sum, float[] mixed) {
    this.max = max;
    this.sum = sum;
    this.mixed = mixed;
  }

  /// Over no token.
  public static Softmax empty(int width) {
    return new Softmax(Float.NEGATIVE_INFINITY, 0, new float[width]);
  }

  /// Adds the tokens of `next`, which follow those of this softmax.
  public void join(Softmax next) {
    float newMax = Math.max(max, next.max);
    float factor = Exponential.of(max - newMax);
    float nextFactor = Exponential.of(next.max - newMax);
    sum = sum * factor + next.sum * nextFactor;
    Vectors.blend(mixed, factor, next.mixed, nextFactor);
    max = newMax;
  }

  /// The mixed values. This softmax is used up.
  public float[] divided() {
    Vectors.scale(mixed, 1 / sum);
    return mixed;
  }
}
