package io.penstock.examples.disaggregated;

import io.penstock.check.Checks;

/// What all nodes of a story share.
///
/// @param prefill how prefill nodes are split
/// @param decode how decode nodes are split
/// @param push whether layers are pushed while they are computed, or pulled afterwards
/// @param promptTokens most tokens of a prompt
/// @param newTokens most tokens generated
/// @param draftTokens guessed a step
/// @param pace of a prefill
/// @param requests most requests of a node at one time
record Setup(Deployment prefill, Deployment decode, boolean push, int promptTokens, int newTokens, int draftTokens,
    Pace pace, int requests) {
  Setup {
    Checks.positive("--tokens", newTokens);
    Checks.notNegative("--draft-tokens", draftTokens);
    Checks.positive("--requests", requests);
    long most = prefill.model().config().maxPositions();
    if ((long) promptTokens + newTokens + draftTokens > most) {
      throw new IllegalArgumentException("prompt, --tokens and --draft-tokens must be <= " + most
          + " tokens together (was " + promptTokens + " + " + newTokens + " + " + draftTokens + ")");
    }
  }

  /// Blocks that a rank's tier has room for: those of all prompts.
  int tierBlocks(Shard shard) {
    return 2 * requests * Math.max(1, shard.blocks(promptTokens));
  }

  int sequenceTokens() {
    return promptTokens + newTokens + draftTokens;
  }
}
