package io.penstock.examples.disaggregated.model;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// Rotary position embedding: two elements are a pair that is turned by an angle, which grows with the position and
/// shrinks from pair to pair. Elements behind the turned ones stay as they are.
final class Rotary {
  private final int half;
  private final boolean interleaved;
  private final double[] angles;
  /// Cosines of all pairs, and then their sines, of each position that was asked for.
  private final Map<Integer, float[]> positions = new ConcurrentHashMap<>();

  Rotary(RotaryConfig config) {
    this.half = config.width() / 2;
    this.interleaved = config.interleaved();
    this.angles = new double[half];
    for (int i = 0; i < half; i++) {
      angles[i] = config.angle(i);
    }
  }

  private float[] at(int position) {
    float[] table = new float[2 * half];
    for (int i = 0; i < half; i++) {
      table[i] = (float) StrictMath.cos(position * angles[i]);
      table[half + i] = (float) StrictMath.sin(position * angles[i]);
    }
    return table;
  }

  /// Turns the first elements of a head.
  void turn(float[] x, int position) {
    float[] table = positions.computeIfAbsent(position, this::at);
    for (int i = 0; i < half; i++) {
      int first = interleaved ? 2 * i : i;
      int second = interleaved ? first + 1 : half + i;
      float a = x[first];
      float b = x[second];
      x[first] = a * table[i] - b * table[half + i];
      x[second] = b * table[i] + a * table[half + i];
    }
  }
}
