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
/// @param tokens of a request
/// @param pace of a prefill
/// @param requests most requests of a node at one time
/// @param lifecycle leases and time limits of requests
/// @param deadline of the transfer of one request
public record Setup(Deployment prefill, Deployment decode, boolean push, Tokens tokens, Pace pace, int requests,
    LifecycleOptions lifecycle, Duration deadline) {
  public Setup {
    Checks.positive("--requests", requests);
    long most = prefill.model().config().maxPositions();
    if ((long) tokens.prompt + tokens.generated + tokens.guessed > most) {
      throw new IllegalArgumentException("prompt, --tokens and --draft-tokens must be <= " + most
          + " tokens together (was " + tokens.prompt + " + " + tokens.generated + " + " + tokens.guessed + ")");
    }
  }

  /// @param prompt most tokens of a prompt
  /// @param generated most tokens generated
  /// @param guessed tokens that the draft head guesses a step
  public record Tokens(int prompt, int generated, int guessed) {
    public Tokens {
      Checks.positive("--tokens", generated);
      Checks.notNegative("--draft-tokens", guessed);
    }
  }

  /// Blocks that a rank's tier has room for: those of all prompts and answers.
  int tierBlocks(Shard shard) {
    return keptRequests() * Math.max(1, shard.blocks(sequenceTokens()));
  }

  /// Requests of which a node has memory: those that warm it up may still be kept.
  int keptRequests() {
    return 2 * requests;
  }

  public int sequenceTokens() {
    return tokens.prompt + tokens.generated + tokens.guessed;
  }
}
