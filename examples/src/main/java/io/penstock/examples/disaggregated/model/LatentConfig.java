package io.penstock.examples.disaggregated.model;

import io.penstock.check.Checks;

/// Sizes of multi-head latent attention, named as DeepSeek's configuration names them.
///
/// @param kvLoraRank elements of the latent that the cache keeps for a token
/// @param qkRopeHeadDim elements of the rotary key that all heads share; even
/// @param qkNopeHeadDim elements of a query head without rotary positions
/// @param vHeadDim elements of a value head
public record LatentConfig(int kvLoraRank, int qkRopeHeadDim, int qkNopeHeadDim, int vHeadDim) {
  private static final int MOST_WIDTH = 1 << 10;

  public LatentConfig {
    requireWidth("kv_lora_rank", kvLoraRank);
    requireWidth("qk_rope_head_dim", qkRopeHeadDim);
    requireWidth("qk_nope_head_dim", qkNopeHeadDim);
    requireWidth("v_head_dim", vHeadDim);
    if (qkRopeHeadDim % 2 != 0) {
      throw new IllegalArgumentException("qk_rope_head_dim must be even (was " + qkRopeHeadDim + ")");
    }
  }

  private static void requireWidth(String name, int value) {
    if (Checks.positive(name, value) > MOST_WIDTH) {
      throw new IllegalArgumentException(name + " must be <= " + MOST_WIDTH + " (was " + value + ")");
    }
  }

  /// Elements of a query head.
  int queryWidth() {
    return qkNopeHeadDim + qkRopeHeadDim;
  }

  /// Rows of the matrix that unfolds a latent, a head.
  int unfoldedWidth() {
    return qkNopeHeadDim + vHeadDim;
  }
}
