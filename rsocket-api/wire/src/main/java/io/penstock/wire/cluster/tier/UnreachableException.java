package io.penstock.wire.cluster.tier;

import io.penstock.TransientKvException;
import io.penstock.wire.transport.Endpoint;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// No node of the cluster answers: none of the seeds, and no member that was known before.
public final class UnreachableException extends TransientKvException {
  private final List<Endpoint> seeds;

  /// @param cause why the node that was asked first did not answer; null if none was asked
  UnreachableException(List<Endpoint> seeds, @Nullable Throwable cause) {
    super("a node of the cluster must answer (none did of " + seeds + ", and no member"
        + (cause == null ? ")" : "): " + cause.getMessage()), cause);
    this.seeds = List.copyOf(seeds);
  }

  /// The seeds that were tried.
  public List<Endpoint> seeds() {
    return seeds;
  }
}
