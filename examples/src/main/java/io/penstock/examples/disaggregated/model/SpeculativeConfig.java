package io.penstock.examples.disaggregated.model;

import io.penstock.check.Checks;

/// All settings of speculative decoding: a draft head guesses the next tokens, and the model checks them in one step.
///
/// @param draftLayers layers of the draft head, which has the number after the model's last layer: 0 or 1
/// @param draftTokens tokens that the draft head guesses a step; 0 decodes without it
public record SpeculativeConfig(int draftLayers, int draftTokens) {
  /// Maximum number of tokens guessed a step.
  public static final int MOST_DRAFT_TOKENS = 16;
  /// No draft head.
  public static final SpeculativeConfig NONE = new SpeculativeConfig(0, 0);

  public SpeculativeConfig {
    Checks.notNegative("draftLayers", draftLayers);
    Checks.notNegative("draftTokens", draftTokens);
    if (draftLayers > 1) {
      throw new IllegalArgumentException("draftLayers must be 0 or 1 (was " + draftLayers + ")");
    }
    if (draftTokens > MOST_DRAFT_TOKENS) {
      throw new IllegalArgumentException("draftTokens must be <= " + MOST_DRAFT_TOKENS + " (was " + draftTokens + ")");
    }
    if (draftTokens > 0 && draftLayers == 0) {
      throw new IllegalArgumentException("draftTokens must be 0 without a draft head (was " + draftTokens + ")");
    }
  }
}
