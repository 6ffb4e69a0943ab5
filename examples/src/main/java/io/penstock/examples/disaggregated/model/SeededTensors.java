package io.penstock.examples.disaggregated.model;

import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;

/// Weights made from a seed: a tensor depends on the seed and its name only.
public final class SeededTensors implements TensorSource {
  private final long seed;

  public SeededTensors(long seed) {
    this.seed = seed;
  }

  @Override
  public float[] tensor(String name, int... shape) {
    float[] values = new float[Math.toIntExact(Tensors.elements(shape))];
    SplittableRandom random = new SplittableRandom(seed ^ (digest(name) << 20));
    boolean isNorm = shape.length == 1;
    float scale = isNorm ? 0.25f : (float) StrictMath.sqrt(3.0 / shape[shape.length - 1]);
    for (int i = 0; i < values.length; i++) {
      float uniform = (random.nextInt() >> 7) * 0x1p-24f; // in [-1, 1), exact
      values[i] = uniform * scale + (isNorm ? 1 : 0);
    }
    return values;
  }

  private static long digest(String name) {
    CRC32C digest = new CRC32C();
    digest.update(name.getBytes(StandardCharsets.UTF_8));
    return digest.getValue();
  }
}
