package io.penstock.examples.disaggregated.rank;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Tokens that a decode has generated, and the logits that each was chosen from.
public final class Generated {
  private final List<Integer> tokens = new ArrayList<>();
  private final List<float[]> logits = new ArrayList<>();
  private int steps;
  private int guessed;
  private int accepted;

  public void add(int token, float[] from) {
    tokens.add(token);
    logits.add(from);
  }

  void addStep(int guesses, int acceptedGuesses) {
    steps++;
    guessed += guesses;
    accepted += acceptedGuesses;
  }

  public List<Integer> tokens() {
    return List.copyOf(tokens);
  }

  public List<float[]> logits() {
    return List.copyOf(logits);
  }

  int count() {
    return tokens.size();
  }

  int token(int number) {
    return tokens.get(number);
  }

  int last() {
    return tokens.getLast();
  }

  /// Steps of the model after the prefill.
  public int steps() {
    return steps;
  }

  /// Tokens that the draft head guessed.
  public int guessed() {
    return guessed;
  }

  /// Guesses that the model chose, too.
  public int accepted() {
    return accepted;
  }

  /// True if tokens and all logits are equal, bit for bit. A NaN equals nothing: two computations that lost their
  /// numbers show nothing.
  public boolean equalsBitwise(Generated other) {
    return tokens.equals(other.tokens) && firstDifference(other) < 0;
  }

  /// Number of the first token whose logits differ in a bit or have a NaN; -1 if there is none.
  public int firstDifference(Generated other) {
    for (int i = 0; i < Math.min(logits.size(), other.logits.size()); i++) {
      if (hasNan(logits.get(i)) || !Arrays.equals(bits(logits.get(i)), bits(other.logits.get(i)))) {
        return i;
      }
    }
    return logits.size() == other.logits.size() ? -1 : Math.min(logits.size(), other.logits.size());
  }

  private static boolean hasNan(float[] values) {
    for (float value : values) {
      if (Float.isNaN(value)) {
        return true;
      }
    }
    return false;
  }

  private static int[] bits(float[] values) {
    int[] bits = new int[values.length];
    for (int i = 0; i < values.length; i++) {
      bits[i] = Float.floatToRawIntBits(values[i]);
    }
    return bits;
  }
}
