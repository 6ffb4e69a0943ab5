package io.penstock.examples.disaggregated.tensors;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.zip.CRC32C;

/// Weights made from a seed: a tensor depends on the seed and its name only. It is made once, when it is asked for.
///
/// An embedding is about as large as what the layers add to it, and the draft head passes it on. So a draft head, which
/// is not trained either, guesses some tokens as the model chooses them. The output matrix prefers letters and spaces,
/// so that the text can be printed.
public final class SeededTensors implements TensorSource {
  private final long seed;
  private final Map<String, float[]> tensors = new ConcurrentHashMap<>();

  public SeededTensors(long seed) {
    this.seed = seed;
  }

  @Override
  public float[] tensor(String name, int... shape) {
    return made(name, shape).clone();
  }

  @Override
  public float[] part(String name, Cut cut, int... shape) {
    return cut.of(made(name, shape), shape);
  }

  private float[] made(String name, int... shape) {
    return tensors.computeIfAbsent(name, missing -> make(missing, shape));
  }

  private float[] make(String name, int... shape) {
    float[] values = new float[Math.toIntExact(Tensors.elements(shape))];
    SplittableRandom random = new SplittableRandom(seed ^ (digest(name) << 20));
    float mean = shape.length == 1 && !name.endsWith(".bias") ? 1 : 0; // of a norm
    float scale = scale(name, shape);
    for (int i = 0; i < values.length; i++) {
      float uniform = (random.nextInt() >> 7) * 0x1p-24f; // in [-1, 1), exact
      values[i] = uniform * scale + mean;
    }
    if (name.equals("lm_head.weight")) {
      preferLetters(values, shape[1]);
    } else if (name.endsWith(".eh_proj.weight")) {
      passOn(values, shape[1]);
    }
    return values;
  }

  private static float scale(String name, int[] shape) {
    if (shape.length == 1) {
      return 0.25f;
    }
    return name.endsWith(".embed_tokens.weight") ? 2 : (float) StrictMath.sqrt(3.0 / shape[1]);
  }

  private static void preferLetters(float[] output, int inputs) {
    for (int i = 0; i < output.length; i++) {
      int token = i / inputs;
      output[i] *= token == ' ' || (token >= 'a' && token <= 'z') ? 1 : 0.25f;
    }
  }

  /// Adds the identity to the part of the matrix that reads the embedding.
  private static void passOn(float[] join, int inputs) {
    for (int out = 0; out < inputs / 2; out++) {
      join[out * inputs + out] += 2;
    }
  }

  private static long digest(String name) {
    CRC32C digest = new CRC32C();
    digest.update(name.getBytes(StandardCharsets.UTF_8));
    return digest.getValue();
  }
}
