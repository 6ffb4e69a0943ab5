package io.penstock.examples.disaggregated.rank;

import io.penstock.check.Checks;

/// How a prefill goes through a prompt.
///
/// @param chunkTokens most tokens computed at a time
/// @param layerRepeats how often each layer is computed: as a larger model, it takes longer
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
