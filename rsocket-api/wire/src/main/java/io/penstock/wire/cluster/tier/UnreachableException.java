package io.penstock.wire.cluster.tier;

import io.penstock.TransientKvException;
import org.jspecify.annotations.Nullable;

/// No node of the cluster answers: none of the seeds, and no member that was known before.
public final class UnreachableException extends TransientKvException {
  private final int seeds;

  /// @param cause why the node that was asked first did not answer; null if none was asked
  UnreachableException(int seeds, @Nullable Throwable cause) {
    super("a node of the cluster must answer (none of " + seeds + " seeds did, and no member)", cause);
    this.seeds = seeds;
  }

  /// Number of seeds that were tried.
  public int seeds() {
    return seeds;
  }
}
