package io.penstock.examples.disaggregated.rank;

import io.penstock.check.Checks;

/// Speed of a prefill through a prompt.
///
/// @param chunkTokens maximum number of tokens computed at a time
/// @param layerRepeats number of computations of each layer: more take as long as a larger model
public record Pace(int chunkTokens, int layerRepeats) {
  public Pace {
    Checks.positive("--chunk", chunkTokens);
    Checks.positive("--layer-repeats", layerRepeats);
  }

  /// The whole prompt at a time.
  public static Pace whole() {
    return chunks(Integer.MAX_VALUE);
  }

  public static Pace chunks(int tokens) {
    return new Pace(tokens, 1);
  }
}
