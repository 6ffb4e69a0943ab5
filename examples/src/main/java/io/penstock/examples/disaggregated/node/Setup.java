package io.penstock.examples.disaggregated.node;

import io.penstock.check.Checks;
import io.penstock.disagg.request.LifecycleOptions;
import io.penstock.examples.disaggregated.rank.Deployment;
import io.penstock.examples.disaggregated.rank.Pace;
import io.penstock.examples.disaggregated.rank.Shard;
import java.time.Duration;

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
/// @param lifecycle leases and time limits of requests
/// @param deadline of the transfer of one request
public record Setup(Deployment prefill, Deployment decode, boolean push, int promptTokens, int newTokens, int draftTokens,
    Pace pace, int requests, LifecycleOptions lifecycle, Duration deadline) {
  public Setup {
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
    return keptRequests() * Math.max(1, shard.blocks(promptTokens));
  }

  /// Requests of which a node has memory: those that warm it up may still be kept.
  int keptRequests() {
    return 2 * requests;
  }

  public int sequenceTokens() {
    return promptTokens + newTokens + draftTokens;
  }
}
