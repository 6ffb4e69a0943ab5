package io.penstock.lab.plan;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.plan.Rank;

/// The port of every rank of an instance whose ports follow each other.
///
/// @param firstPort of rank 0 of data-parallel replica 0
public record RankPorts(int firstPort, Parallelism parallelism) {
  private static final int MOST = 65_535;

  public RankPorts {
    Checks.positive("firstPort", firstPort);
    requireNonNull(parallelism, "parallelism");
    long last = firstPort + (long) parallelism.dp() * parallelism.ranks() - 1;
    if (last > MOST) {
      throw new IllegalArgumentException("last port must be <= %d (was %d)".formatted(MOST, last));
    }
  }

  /// Port of rank 0 of a data-parallel replica.
  public int basePort(int replica) {
    Checks.within("replica", replica, parallelism.dp());
    return firstPort + replica * parallelism.ranks();
  }

  /// Port of a rank of a data-parallel replica.
  public int port(int replica, Rank rank) {
    return basePort(replica) + parallelism.index(rank);
  }
}
