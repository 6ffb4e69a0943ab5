package io.penstock.wire.cluster.tier;

import io.penstock.TransientKvException;

/// No node of the cluster answers: none of the seeds, and no member that was known before.
public final class UnreachableException extends TransientKvException {
  private final int seeds;

  UnreachableException(int seeds) {
    super("a node of the cluster must answer (none of " + seeds + " seeds did, and no member)");
    this.seeds = seeds;
  }

  /// Number of seeds that were tried.
  public int seeds() {
    return seeds;
  }
}
