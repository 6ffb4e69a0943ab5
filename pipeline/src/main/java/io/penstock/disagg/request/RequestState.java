package io.penstock.disagg.request;

import java.util.Collection;
import java.util.Collections;

/// State of a request, on one rank or in a group of ranks. The order of the constants counts.
public enum RequestState {
  /// Ended without its blocks.
  FAILED,
  /// The other side has not accepted it yet.
  BOOTSTRAPPING,
  /// Both sides know it, and no byte has come.
  WAITING_FOR_INPUT,
  /// Bytes move.
  TRANSFERRING,
  /// Ended with its blocks.
  SUCCESS;

  /// The state of a rank after `update`: the later of both, but a failure wins and stays.
  public RequestState after(RequestState update) {
    if (this == FAILED || update == FAILED) {
      return FAILED;
    }
    return compareTo(update) >= 0 ? this : update;
  }

  /// Whether no update but a failure changes it.
  public boolean isFinal() {
    return this == FAILED || this == SUCCESS;
  }

  /// The state of a group: the least of its ranks, so one failed rank fails it, and it succeeds when all have.
  ///
  /// @param ranks at least one
  public static RequestState ofGroup(Collection<RequestState> ranks) {
    if (ranks.isEmpty()) {
      throw new IllegalArgumentException("ranks must be at least one (was none)");
    }
    return Collections.min(ranks);
  }
}
